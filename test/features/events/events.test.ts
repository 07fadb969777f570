import { expect } from "chai";
import { eventTypes } from "../../../src/platform/events/catalogue.ts";
import { createRelay } from "../../../src/platform/events/outbox.ts";
import { createLeases } from "../../../src/platform/jobs/leases.ts";
import { systemActor } from "../../../src/kernel/actor.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { expectProblem, pointersOf } from "../../http/problem.ts";
import {
  approvedMerchant,
  colleague,
  eachServed,
  expectStatus,
  keyOf,
  type Merchant,
} from "../../support/app.ts";
import { testContext } from "../../support/store/stores.ts";

interface Event {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}
interface Page {
  readonly data: readonly Event[];
  readonly nextCursor: string;
  readonly hasMore: boolean;
}

eachServed(
  "the events API",
  (served) => {
    let merchant: Merchant;
    let home: string;
    let relay: ReturnType<typeof createRelay>;

    before(() => {
      const { db, ids, clock } = served.app.app;
      relay = createRelay({
        db,
        leases: createLeases({ db, clock, ids, actor: systemActor("leases") }),
        subscribers: [],
        context: testContext,
      });
    });
    beforeEach(async () => {
      merchant = await approvedMerchant(served.app);
      home = merchant.path;
    });

    const get = (query = "", key = merchant.key, path = `${home}/events`) =>
      served.app.request("GET", path + query, { key });
    async function read(query = "", key = merchant.key, path?: string): Promise<Page> {
      return (await expectStatus(get(query, key, path), 200)).body as unknown as Page;
    }
    const passOn = async () => {
      while (await relay.run(new AbortController().signal));
    };
    /** Returns a cursor after the events of the organization's creation. */
    async function now(): Promise<string> {
      await passOn();
      let page = await read("?limit=100");
      while (page.hasMore) page = await read(`?limit=100&after=${page.nextCursor}`);
      return page.nextCursor;
    }
    async function customers(count: number): Promise<void> {
      for (let number = 1; number <= count; number += 1) {
        await expectStatus(
          served.app.request("POST", `${home}/customers`, {
            key: merchant.key,
            body: { name: `Customer ${String(number)}` },
          }),
          201,
        );
      }
    }
    const names = (page: Page) => page.data.map(({ data }) => data["name"]);

    it("lists the webhooks' bodies without the endpoint's sequence, oldest first", async () => {
      const start = await now();
      await customers(3);
      await passOn();
      const page = await read(`?after=${start}`);
      expect(names(page)).to.deep.equal(["Customer 1", "Customer 2", "Customer 3"]);
      expect(page.hasMore).to.equal(false);
      const [first] = page.data;
      expect(Object.keys(first ?? {})).to.deep.equal([
        "id",
        "type",
        "timestamp",
        "data",
        "apiVersion",
        "organizationId",
      ]);
      expect(first).to.include({
        type: "customer.created",
        apiVersion: "v1",
        organizationId: merchant.organizationId,
      });
      expect(first?.id).to.match(/^evt_/);
      expect(first?.data).to.include({ name: "Customer 1", objectVersion: 1 });
      const { token } = await colleague(served.app, merchant, "viewer");
      const seen = await served.app.request("GET", `${home}/events?after=${start}`, { token });
      expect((seen.body as unknown as Page).data).to.have.length(3);
      const reading = await keyOf(served.app, merchant, "read");
      expect((await read(`?after=${start}`, reading)).data).to.have.length(3);
    });

    it("continues after the last page, with a 304 while there are no new events", async () => {
      const start = await now();
      await customers(5);
      await passOn();
      const seen: unknown[] = [];
      let after = start;
      for (const [expected, more] of [
        [2, true],
        [2, true],
        [1, false],
        [0, false],
      ] as const) {
        const page = await read(`?limit=2&after=${after}`);
        expect(page.data).to.have.length(expected);
        expect(page.hasMore).to.equal(more);
        seen.push(...names(page));
        after = page.nextCursor;
      }
      expect(seen).to.deep.equal([1, 2, 3, 4, 5].map((number) => `Customer ${String(number)}`));
      const quiet = await get(`?limit=2&after=${after}`);
      const again = await served.app.request("GET", `${home}/events?limit=2&after=${after}`, {
        key: merchant.key,
        headers: { "If-None-Match": quiet.headers.get("ETag") ?? "" },
      });
      expect(again.status).to.equal(304);
      await customers(1);
      expect((await read(`?after=${after}`)).data, "before it has a position").to.have.length(0);
      await passOn();
      expect((await read(`?after=${after}`)).data).to.have.length(1);
    });

    it("continues after an event whose id is given, and goes on with a cursor", async () => {
      const start = await now();
      await customers(3);
      await passOn();
      const ids = (await read(`?after=${start}`)).data.map(({ id }) => id);
      const rest = await read(`?limit=1&after=${String(ids[0])}`);
      expect([names(rest), rest.hasMore]).to.deep.equal([["Customer 2"], true]);
      expect(names(await read(`?after=${rest.nextCursor}`))).to.deep.equal(["Customer 3"]);
      const end = await read(`?after=${String(ids[2])}`);
      expect([end.data, end.hasMore]).to.deep.equal([[], false]);
      // An id is not kept for ever, so the answer replaces it.
      expect(end.nextCursor).not.to.match(/^evt_/);
      await customers(1);
      const [newest] = await served.app.app.db.all<{ id: string }>(
        "SELECT id FROM events WHERE position IS NULL",
      );
      const early = await read(`?after=${String(newest?.id)}`);
      expect([early.data, early.nextCursor, early.hasMore]).to.deep.equal([[], newest?.id, false]);
      await passOn();
      expect((await read(`?after=${end.nextCursor}`)).data.map(({ id }) => id)).to.deep.equal([
        newest?.id,
      ]);
      // Foreign, deleted and made-up ids have the same answer, on which a program can decide.
      const stranger = await approvedMerchant(served.app);
      await passOn();
      const path = `${stranger.path}/events`;
      const foreign = await get("", stranger.key, path);
      const [other] = (foreign.body as unknown as Page).data;
      for (const id of [`evt_${"0".repeat(26)}`, other?.id]) {
        const refused = await get(`?after=${String(id)}`);
        expect([refused.status, refused.body["errors"]], id).to.have.nested.property(
          "[1][0].code",
          "outdated_cursor",
        );
      }
    });

    it("gives objects the number of changes that their events have", async () => {
      const path = `${home}/customers`;
      const { key } = merchant;
      const made = await served.app.request("POST", path, { key, body: { name: "Ada" } });
      const one = `${path}/${String(made.body["id"])}`;
      const changed = await served.app.request("PATCH", one, { key, body: { name: "Ada B" } });
      const shown = await served.app.request("GET", one, { key });
      const versions = [made, changed, shown].map(({ body }) => body["objectVersion"]);
      expect(versions).to.deep.equal([1, 2, 2]);
    });

    it("skips and repeats nothing if an earlier event is committed later", async () => {
      const start = await now();
      const { db, ids, clock } = served.app.app;
      // Two events whose ids are in the other order than they are passed on.
      const at = clock.now();
      const [older, newer] = [ids.next("event", at - 60_000), ids.next("event", at)];
      const emit = (id: Id<"event">) =>
        db.write(testContext, (tx) =>
          tx.run(
            `INSERT INTO events (id, organization_id, type, api_version, object_type, object_id, object_version,
               payload, occurred_at) VALUES ($1, $2, 'customer.created', 'v1', 'customer', 'cus_1', 1, '{}', $3)`,
            [id, merchant.organizationId, at],
          ),
        );
      await emit(newer);
      await passOn();
      const first = await read(`?after=${start}`);
      expect(first.data.map(({ id }) => id)).to.deep.equal([newer]);
      await emit(older);
      await passOn();
      const second = await read(`?after=${first.nextCursor}`);
      expect(second.data.map(({ id }) => id)).to.deep.equal([older]);
    });

    it("filters by type, and never scans the same events again", async () => {
      const start = await now();
      await customers(3);
      await expectStatus(
        served.app.request("PATCH", home, { key: merchant.key, body: { displayName: "Other" } }),
        200,
      );
      await passOn();
      const page = await read(`?after=${start}&types=organization.updated,wallet.created`);
      expect(page.data.map(({ type }) => type)).to.deep.equal(["organization.updated"]);
      const none = await read(`?after=${start}&types=invoice.paid`);
      expect(none).to.deep.include({ data: [], hasMore: false });
      expect((await read(`?after=${none.nextCursor}`)).data).to.have.length(0);
      const two = await read(`?after=${start}&types=customer.created&limit=2`);
      expect([two.data.length, two.hasMore]).to.deep.equal([2, true]);
      const rest = await read(`?after=${two.nextCursor}&types=customer.created&limit=2`);
      expect(names(rest)).to.deep.equal(["Customer 3"]);
    });

    it("hides other organizations' events, and their number in the cursor", async () => {
      const stranger = await approvedMerchant(served.app);
      const theirs = `${stranger.path}/events`;
      await customers(2);
      const cursor = await now();
      const text = JSON.stringify((await read("?limit=100", stranger.key, theirs)).data);
      expect(text).not.to.include(merchant.organizationId);
      expect(Buffer.from(cursor, "base64url").toString("latin1")).not.to.match(/^[\x20-\x7e]+$/);
      for (const query of [
        `?after=${cursor}`,
        "?after=",
        "?after=1",
        `?after=${cursor.slice(0, -2)}`,
        "?after=' OR 1=1",
      ]) {
        const refused = await get(query, stranger.key, theirs);
        expect(pointersOf(refused), query).to.deep.equal(["?after"]);
      }
      const customerList = await get("?limit=1", merchant.key, `${home}/customers`);
      const other = await get(`?after=${String(customerList.body["nextCursor"])}`);
      expect(pointersOf(other)).to.deep.equal(["?after"]);
      expectProblem(await get("", stranger.key), 404, "not_found");
    });

    it("refuses unknown types, cursors and parameters", async () => {
      for (const [query, pointer] of [
        ["?types=invoice.payed", "?types"],
        ["?types=", "?types"],
        ["?types=invoice.paid,,wallet.created", "?types"],
        [`?types=${"x".repeat(5_000)}`, "?types"],
        ["?limit=0", "?limit"],
        ["?limit=101", "?limit"],
        ["?limit=1e2", "?limit"],
        ["?cursor=x", "?cursor"],
        [`?after=${"A".repeat(300)}`, "?after"],
      ] as const) {
        expect(pointersOf(await get(query)), query).to.deep.equal([pointer]);
      }
      expect((await read(`?types=${eventTypes.join(",")}`)).hasMore).to.equal(false);
    });

    it("lists the event types for every credential", async () => {
      const path = "/v1/webhook-event-types";
      const listed = await expectStatus(get("", merchant.key, path), 200);
      const types = listed.body["data"] as { type: string; description: string }[];
      expect(types.map(({ type }) => type)).to.deep.equal(eventTypes);
      for (const { description } of types) expect(description).to.match(/^[A-Z0-9].*\.$/);
      expect(listed.headers.get("ETag")).to.match(/^"/);
      expectProblem(await served.app.request("GET", path), 401, "unauthenticated");
      const { token } = await colleague(served.app, merchant, "viewer");
      expect((await served.app.request("GET", path, { token })).status).to.equal(200);
    });
  },
  { background: false },
);
