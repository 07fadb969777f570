// The platform admins' view across organizations, over HTTP on both databases.
import { expect } from "chai";
import { expectProblem } from "../../http/problem.ts";
import {
  approvedMerchant,
  expectStatus,
  keyOf,
  platformAdmin,
  startApp,
  walk,
  type Answer,
  type Merchant,
  type Person,
  type TestApp,
} from "../../support/app.ts";
import { xpubs } from "../../support/merchants.ts";
import { pressOnPage } from "../../support/sandbox.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import { until } from "../../support/until.ts";
import { listFailedJobs } from "../../../src/features/admin/queues.ts";
import { jobs } from "../../../src/platform/jobs/table.ts";

type Item = Readonly<Record<string, unknown>>;

const paths = [
  "/v1/admin/payments",
  "/v1/admin/webhook-deliveries",
  "/v1/admin/queues/webhooks/failed-jobs",
  "/v1/admin/operations/status",
] as const;

const items = (answer: Answer) => answer.body["data"] as readonly Item[];

eachStore("the platform's view", (store) => {
  let receiver: Receiver;
  let app: TestApp;
  let root: Person;
  let ada: Merchant;
  let eve: Merchant;

  before(async () => {
    receiver = await startReceiver();
    receiver.answer(500);
    app = await startApp({
      place: await store.place("migrated"),
      settings: { TILL_SANDBOX_BLOCK_MS: "0", TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.1/32" },
    });
    root = await platformAdmin(app);
    ada = await openShop(xpubs.first);
    eve = await openShop(xpubs.second);
    await pay(ada);
    await pay(ada);
    await pay(eve);
    await mine(1);
    await until("three payments", listed("/v1/admin/payments"), (data) => data.length === 3);
  });
  after(async () => {
    await app.stop();
    await receiver.close();
  });

  const get = (path: string, who: { readonly token?: string; readonly key?: string } = root) => {
    const { token, key } = who;
    const credential = token === undefined ? { key: key ?? "" } : { token };
    return app.request("GET", path, credential);
  };
  const listed = (path: string) => async () => items(await expectStatus(get(path), 200));

  async function openShop(xpub: string): Promise<Merchant> {
    const merchant = await approvedMerchant(app);
    await merchant.addWallet({ xpub });
    await expectStatus(merchant.post("/webhook-endpoints", { url: receiver.url }), 201);
    return merchant;
  }

  let lastCheckout = "";
  const press = (action: string) => pressOnPage(app, lastCheckout, action);
  async function mine(blocks: number): Promise<void> {
    for (let block = 0; block < blocks; block += 1) await press("mine");
  }

  async function pay(merchant: Merchant): Promise<void> {
    lastCheckout = String((await merchant.issue())["checkoutId"]);
    await press("pay");
  }

  it("is only for platform admins and keys with the scope platform", async () => {
    const platform = await keyOf(app, root, "platform");
    const plain = await keyOf(app, root, "read", "write");
    for (const path of paths) {
      await expectStatus(get(path, { key: platform }), 200);
      for (const who of [{ key: plain }, { key: ada.key }, { token: ada.token }]) {
        expectProblem(await get(path, who), 403, "forbidden");
      }
      await expectStatus(app.request("GET", path), 401);
    }
  });

  describe("of payments", () => {
    const path = "/v1/admin/payments";

    it("shows each payment as its merchant sees it, with its organization", async () => {
      const all = await listed(path)();
      for (const merchant of [ada, eve]) {
        const home = merchant.path;
        const organization = await expectStatus(get(home, { key: merchant.key }), 200);
        const own = items(await expectStatus(get(`${home}/payments`, { key: merchant.key }), 200));
        const owner = {
          organizationId: merchant.organizationId,
          organizationName: organization.body["name"],
        };
        expect(all.filter((each) => each["organizationId"] === merchant.organizationId)).to.eql(
          own.map((payment) => ({ ...payment, ...owner })),
        );
      }
    });

    it("can be filtered by organization, status and network, and by combinations", async () => {
      const ids = async (query: string) => (await listed(`${path}?${query}`)()).map(({ id }) => id);
      const all = await ids("");
      expect(await ids("status=confirming")).to.deep.equal(all);
      expect(await ids("network=sandbox")).to.deep.equal(all);
      for (const query of ["status=confirmed", "status=review", "network=tron"]) {
        expect(await ids(query), query).to.deep.equal([]);
      }
      const eves = await ids(`organizationId=${eve.organizationId}`);
      expect(eves).to.have.length(1);
      const narrow = `organizationId=${eve.organizationId}&status=confirming&network=sandbox`;
      expect(await ids(narrow)).to.deep.equal(eves);
      for (const query of ["status=lost", "organizationId=org_1", "network=", "other=1"]) {
        expectProblem(await get(`${path}?${query}`), 400, "invalid_request");
      }
    });

    it("is paginated, and a cursor is tied to its filters", async () => {
      const walked = await walk(app, path, root.token, 1);
      expect(walked).to.deep.equal(await listed(path)());
      expect(walked.map(({ id }) => id)).to.deep.equal(
        walked
          .map(({ id }) => String(id))
          .sort()
          .reverse(),
      );
      const cursor = String((await get(`${path}?limit=1`)).body["nextCursor"]);
      expectProblem(
        await get(`${path}?limit=1&network=sandbox&cursor=${cursor}`),
        400,
        "invalid_request",
      );
    });
  });

  describe("of webhook deliveries", () => {
    const path = "/v1/admin/webhook-deliveries";

    it("shows each delivery with its organization and URL", async () => {
      const failed = await until("failures", listed(`${path}?status=failed`), (data) =>
        [ada, eve].every((each) =>
          data.some((one) => one["organizationId"] === each.organizationId),
        ),
      );
      for (const one of failed) {
        expect(one).to.include({ organizationName: "Ada's shop", url: receiver.url });
        expect(one["responseStatus"]).to.equal(500);
      }
      const own = await listed(`${path}?status=failed&organizationId=${eve.organizationId}`)();
      expect(own).to.have.length.above(0);
      expect(new Set(own.map((one) => one["organizationId"]))).to.eql(
        new Set([eve.organizationId]),
      );
      expect(await listed(`${path}?status=succeeded`)()).to.deep.equal([]);
      expectProblem(await get(`${path}?status=lost`), 400, "invalid_request");
    });

    it("is paginated", async () => {
      // Before the walk: the server goes on meanwhile.
      const some = (await listed(path)()).map(({ id }) => id);
      const ids = (await walk(app, path, root.token, 2)).map(({ id }) => String(id));
      expect(ids).to.deep.equal([...new Set(ids)].sort().reverse());
      expect(ids).to.include.members(some);
    });
  });

  describe("of failed jobs", () => {
    const path = (queue: string) => `/v1/admin/queues/${queue}/failed-jobs`;

    it("accepts the four queues only", async () => {
      for (const queue of ["webhooks", "chain", "billing", "maintenance"]) {
        expect((await expectStatus(get(path(queue)), 200)).body).to.have.keys("data", "nextCursor");
      }
      for (const queue of ["emails", "Webhooks", "%20", "constructor"]) {
        expectProblem(await get(path(queue)), 404, "not_found");
      }
    });

    it("lists failed jobs, latest failure first, page by page", async () => {
      const at = app.clock.now();
      const rows = [3, 1, 4, 1, 5, 9, 2, 6].map((age, number) => ({
        id: app.app.ids.next("job", at),
        queue: number === 7 ? "chain" : "billing",
        name: "run boundary",
        payload: {},
        dedupeKey: null,
        organizationId: number === 0 ? null : ada.organizationId,
        state: number === 6 ? ("ready" as const) : ("failed" as const),
        runAt: at + 3_600_000,
        attempts: 12,
        maxAttempts: 12,
        leaseUntil: null,
        leaseToken: null,
        failedReason: number === 6 ? null : `reason ${String(number)}`,
        failedAt: number === 6 ? null : at - age,
        createdAt: at - 1_000,
      }));
      await app.app.db.write(testContext, (tx) => tx.insertMany(jobs, rows));
      const walked = await walk(app, path("billing"), root.token, 1);
      const reasons = walked.map(({ failedReason }) => failedReason);
      expect(reasons).to.deep.equal([3, 1, 0, 2, 4, 5].map((number) => `reason ${String(number)}`));
      expect(walked[2]).to.deep.equal({
        id: rows[0]?.id,
        queue: "billing",
        name: "run boundary",
        attempts: 12,
        failedReason: "reason 0",
        organizationId: null,
        createdAt: new Date(at - 1_000).toISOString(),
        failedAt: new Date(at - 3).toISOString(),
      });
      const all = (await listFailedJobs(app.app, null, {})).data;
      expect(all.map(({ failedReason }) => failedReason)).to.deep.equal(
        [3, 1, 0, 2, 4, 7, 5].map((number) => `reason ${String(number)}`),
      );
      const cursor = String((await get(`${path("billing")}?limit=1`)).body["nextCursor"]);
      expectProblem(await get(`${path("chain")}?cursor=${cursor}`), 400, "invalid_request");
      const status = await expectStatus(get("/v1/admin/operations/status"), 200);
      const queues = status.body["queues"] as readonly Item[];
      expect(queues.find(({ queue }) => queue === "billing")).to.deep.equal({
        queue: "billing",
        waiting: 0,
        active: 0,
        delayed: 1,
        failed: 6,
      });
    });

    it("refuses a forged cursor without a position", async () => {
      const cursor = String((await get(`${path("billing")}?limit=1`)).body["nextCursor"]);
      const content = JSON.parse(Buffer.from(cursor, "base64url").toString()) as unknown[];
      for (const place of ["job_1", ".", "1.", "9999999999999999.a"]) {
        const forged = Buffer.from(JSON.stringify([content[0], content[1], place]));
        const answer = await get(`${path("billing")}?cursor=${forged.toString("base64url")}`);
        expectProblem(answer, 400, "invalid_request");
      }
    });

    it("lists dead letters as failed jobs of the webhooks queue, with the ids to replay them", async () => {
      expect(await listed(path("webhooks"))()).to.deep.equal([]);
      const home = eve.path;
      const [endpoint] = items(await get(`${home}/webhook-endpoints`, { key: eve.key }));
      const disable = `${home}/webhook-endpoints/${String(endpoint?.["id"])}/disable`;
      await expectStatus(app.request("POST", disable, { key: eve.key }), 200);
      // A delivery that was running just then is given up a moment later.
      const letters = await until(
        "all dead",
        listed(`/v1/admin/webhook-deliveries?organizationId=${eve.organizationId}`),
        (data) => data.length > 0 && data.every(({ status }) => status === "dead_letter"),
      );
      const dead = await listed(path("webhooks"))();
      const [first] = dead;
      const letter = letters.find(({ id }) => id === first?.["id"]);
      expect(first).to.deep.equal({
        id: letter?.["id"],
        queue: "webhooks",
        name: letter?.["eventType"],
        attempts: letter?.["attempts"],
        failedReason: letter?.["lastError"],
        organizationId: eve.organizationId,
        createdAt: letter?.["createdAt"],
        failedAt: letter?.["completedAt"],
      });
      const walked = await walk(app, path("webhooks"), root.token, 1);
      expect(walked.map(({ id }) => id)).to.have.members(letters.map(({ id }) => id));
    });
  });
});
