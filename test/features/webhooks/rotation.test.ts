import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import { wipeOldSecrets } from "../../../src/features/webhooks/delivery/retention.ts";
import { rotateWebhookSecret } from "../../../src/features/webhooks/endpoints.ts";
import { webhookEndpoints } from "../../../src/features/webhooks/table.ts";
import { hour, minute } from "../../../src/kernel/clock.ts";
import { auditLogs } from "../../../src/platform/audit/chain.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { expectProblem, pointersOf, withoutRequest } from "../../http/problem.ts";
import {
  approvedMerchant,
  colleague,
  eachServed,
  expectStatus,
  type Person,
} from "../../support/app.ts";
import { dumpStore } from "../../support/store/dump.ts";
import { stillClock } from "../../support/clock.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import { until } from "../../support/until.ts";
import { install, verified, type Installation } from "./sending.ts";

eachStore("the secret of a webhook endpoint", (store) => {
  let db: Database;
  let here: Installation;
  let target: Receiver;
  let endpoint: { readonly id: `wep_${string}`; readonly secret: string };

  beforeEach(async () => {
    db = await store.open();
    here = await install(db, { clock: stillClock() });
    target = await startReceiver();
    endpoint = await here.endpoint(target.port);
  });
  afterEach(async () => {
    await target.close();
    await here.close();
  });

  const rotate = (overlapSeconds?: number) =>
    rotateWebhookSecret(here.app, testContext, here.shop, endpoint.id, { overlapSeconds });

  /** Which of the secrets have signed the next delivery, in the order of its signatures. */
  async function signers(...secrets: readonly string[]): Promise<readonly string[]> {
    const before = target.requests.length;
    await here.emit("invoice.paid");
    await here.deliver();
    expect(target.requests).to.have.length(before + 1);
    const headers = target.requests[before]?.headers ?? {};
    const text = target.requests[before]?.body ?? "";
    const time = new Date(Number(headers["webhook-timestamp"]) * 1_000);
    return String(headers["webhook-signature"])
      .split(" ")
      .map((given) => {
        const signer = secrets.find(
          (secret) => new Webhook(secret).sign(String(headers["webhook-id"]), time, text) === given,
        );
        return signer ?? "an unknown secret";
      });
  }

  it("signs for one day after the new one's signature, and then no more", async () => {
    const { secret, previousSecretExpiresAt, endpoint: rotated } = await rotate();
    expect(rotated.version).to.equal(2);
    expect(secret)
      .to.match(/^whsec_/)
      .and.not.equal(endpoint.secret);
    expect(previousSecretExpiresAt).to.equal(here.clock.now() + 24 * hour);
    expect(await signers(endpoint.secret, secret)).to.deep.equal([secret, endpoint.secret]);
    here.clock.advance(24 * hour - 1);
    expect(await signers(endpoint.secret, secret)).to.deep.equal([secret, endpoint.secret]);
    here.clock.advance(1);
    expect(await signers(endpoint.secret, secret)).to.deep.equal([secret]);
  });

  it("is accepted by the public library, old or new, during the overlap", async () => {
    const { secret } = await rotate(60);
    await here.emit("invoice.paid");
    await here.deliver();
    const [request] = target.requests;
    const text = request?.body ?? "";
    for (const either of [secret, endpoint.secret]) {
      new Webhook(either).verify(text, request?.headers as Record<string, string>);
    }
    const other = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    expect(() =>
      new Webhook(other).verify(text, request?.headers as Record<string, string>),
    ).to.throw("No matching signature");
    here.clock.advance(minute);
    await here.emit("invoice.expired");
    await here.deliver();
    const later = target.requests.at(-1);
    if (later === undefined) throw new Error("nothing arrived");
    verified(later, secret);
    const now = later.headers as Record<string, string>;
    expect(() => new Webhook(endpoint.secret).verify(later.body, now)).to.throw();
  });

  it("ends at once without an overlap, and the older one does with a second rotation", async () => {
    const second = await rotate();
    const third = await rotate();
    const all = [endpoint.secret, second.secret, third.secret];
    expect(await signers(...all)).to.deep.equal([third.secret, second.secret]);
    const fourth = await rotate(0);
    expect(fourth.previousSecretExpiresAt).to.equal(null);
    expect(await signers(...all, fourth.secret)).to.deep.equal([fourth.secret]);
    const row = await db.findOne(webhookEndpoints, "WHERE id = $1", [endpoint.id]);
    expect(row).to.include({ previousSecret: null, previousSecretUntil: null });
  });

  it("is wiped once it has expired, and nothing else of the endpoint changes", async () => {
    const find = () => db.findOne(webhookEndpoints, "WHERE id = $1", [endpoint.id]);
    const wipe = () => wipeOldSecrets(db, here.clock.now(), testContext);
    const { secret } = await rotate();
    const before = await find();
    here.clock.advance(24 * hour - 1);
    expect(await wipe()).to.equal(false);
    expect(await find()).to.deep.equal(before);
    here.clock.advance(1);
    expect(await wipe()).to.equal(false);
    const wiped = { previousSecret: null, previousSecretUntil: null };
    expect(await find()).to.deep.equal({ ...before, ...wiped });
    expect(await signers(endpoint.secret, secret)).to.deep.equal([secret]);
  });

  it("is stored encrypted, and in no audit entry", async () => {
    const { secret, previousSecretExpiresAt } = await rotate();
    const dump = await dumpStore(db);
    for (const each of [secret, endpoint.secret]) expect(dump).not.to.include(each.slice(6));
    const [entry] = await db.find(auditLogs, "WHERE action = 'webhook_endpoint.secret_rotated'");
    expect(entry?.changes).to.deep.equal({
      previousSecretExpiresAt: new Date(previousSecretExpiresAt ?? 0).toISOString(),
    });
    const row = await db.findOne(webhookEndpoints, "WHERE id = $1", [endpoint.id]);
    expect(JSON.stringify(entry)).not.to.include(row?.secret).and.not.to.include("whsec_");
  });
});

eachServed(
  "one webhook endpoint",
  (served) => {
    let merchant: Person & { readonly key: string };
    let stranger: Person & { readonly key: string };
    let receiver: Receiver;
    let home: string;

    before(async () => {
      receiver = await startReceiver();
      stranger = await approvedMerchant(served.app);
    });
    beforeEach(async () => {
      merchant = await approvedMerchant(served.app);
      home = `${merchant.path}/webhook-endpoints`;
    });
    after(() => receiver.close());

    async function create(body: object = {}): Promise<{ id: string; secret: string }> {
      const made = await expectStatus(
        post(home, merchant.key, { url: receiver.url, ...body }),
        201,
      );
      return made.body as { id: string; secret: string };
    }
    const post = (path: string, key: string, body?: unknown, idempotencyKey?: string) =>
      served.app.request("POST", path, {
        key,
        ...(body === undefined ? {} : { body }),
        headers: idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey },
      });

    it("is read without its secret, and its tag allows a change", async () => {
      const { id, secret } = await create();
      const read = await served.app.request("GET", `${home}/${id}`, { key: merchant.key });
      expect(read.status).to.equal(200);
      expect(read.text).not.to.include("secret");
      expect(read.body).to.include({ id, url: receiver.url, status: "enabled" });
      const tag = read.headers.get("ETag") ?? "";
      const change = (description: string) =>
        served.app.request("PATCH", `${home}/${id}`, {
          key: merchant.key,
          body: { description },
          headers: { "If-Match": tag },
        });
      expect((await change("Books")).status).to.equal(200);
      expectProblem(await change("Late"), 412, "precondition_failed");
      const again = await served.app.request("GET", `${home}/${id}`, { key: merchant.key });
      expect(again.body["description"]).to.equal("Books");
      expect(again.text).not.to.include(secret);
    });

    it("of another organization cannot be seen, rotated or tested", async () => {
      const { id } = await create();
      const theirs = `${stranger.path}/webhook-endpoints`;
      const ask = (what: string, of: string) =>
        what === ""
          ? served.app.request("GET", `${theirs}/${of}`, { key: stranger.key })
          : post(`${theirs}/${of}/${what}`, stranger.key, {});
      for (const what of ["", "rotate-secret", "test"]) {
        const foreign = await ask(what, id);
        expectProblem(foreign, 404, "not_found");
        const unknown = await ask(what, `wep_${"0".repeat(26)}`);
        expect(withoutRequest(foreign), what).to.deep.equal(withoutRequest(unknown));
      }
    });

    it("gets a new secret, shown once, and again for the same Idempotency-Key, stored encrypted", async () => {
      const { id, secret } = await create();
      const path = `${home}/${id}/rotate-secret`;
      const askedAt = served.app.clock.now();
      const rotated = await post(path, merchant.key, { overlapSeconds: 3_600 }, "rotate");
      const answeredAt = served.app.clock.now();
      expect(rotated.status, rotated.text).to.equal(200);
      expect(rotated.body).to.include({ id, status: "enabled" });
      expect(rotated.body["secret"])
        .to.match(/^whsec_/)
        .and.not.equal(secret);
      const expiry = Date.parse(String(rotated.body["previousSecretExpiresAt"]));
      expect(expiry).to.be.within(askedAt + 3_600_000 - 1_000, answeredAt + 3_600_000);
      const again = await post(path, merchant.key, { overlapSeconds: 3_600 }, "rotate");
      expect(again.headers.get("Idempotent-Replayed")).to.equal("true");
      expect(again.text).to.equal(rotated.text);
      const dump = await dumpStore(served.app.app.db);
      expect(dump).not.to.include(String(rotated.body["secret"]).slice(6));
      const ended = await post(path, merchant.key, { overlapSeconds: 0 });
      expect(ended.body["previousSecretExpiresAt"]).to.equal(null);
    });

    it("accepts an overlap only in whole seconds up to a week, and only from callers with the permission", async () => {
      const { id } = await create();
      const path = `${home}/${id}/rotate-secret`;
      for (const overlapSeconds of [-1, 1.5, 604_801, "60", null, 1e300, [60], true]) {
        const refused = await post(path, merchant.key, { overlapSeconds });
        expect(new Set(pointersOf(refused)), JSON.stringify(overlapSeconds)).to.deep.equal(
          new Set(["/overlapSeconds"]),
        );
      }
      expect(pointersOf(await post(path, merchant.key, { secret: "whsec_mine" }))).to.deep.equal([
        "/secret",
      ]);
      const { token } = await colleague(served.app, merchant, "member");
      for (const what of ["rotate-secret", "test"]) {
        const refused = await served.app.request("POST", `${home}/${id}/${what}`, {
          token,
          body: {},
        });
        expectProblem(refused, 403, "forbidden");
      }
    });

    it("is sent its own test event, signed and numbered, whatever its event types", async () => {
      const one = await create({ eventTypes: ["invoice.paid"] });
      await create();
      const before = receiver.requests.length;
      const pings: string[] = [];
      for (const round of [1, 2]) {
        const sent = await post(`${home}/${one.id}/test`, merchant.key);
        expect(sent.status, sent.text).to.equal(202);
        expect(sent.body).to.include({
          webhookEndpointId: one.id,
          eventType: "webhook.ping",
          status: "pending",
          attempts: 0,
          replayOf: null,
        });
        pings.push(String(sent.body["eventId"]));
        await until(
          "the test",
          () => receiver.requests.length - before,
          (count) => count >= round,
        );
      }
      const deliveries = `${merchant.path}/webhook-deliveries`;
      await until(
        "the outcomes",
        () => served.app.request("GET", `${deliveries}?status=succeeded`, { key: merchant.key }),
        ({ body }) => (body["data"] as unknown[]).length === 2,
      );
      // The relay has passed the events on by now: the other endpoint was sent nothing.
      await until(
        "the relay",
        () => served.app.app.db.all("SELECT 1 FROM events WHERE position IS NULL"),
        (waiting) => waiting.length === 0,
      );
      const all = await served.app.request("GET", deliveries, { key: merchant.key });
      expect(all.body["data"]).to.have.length(2);
      const messages = receiver.requests
        .slice(before)
        .map(({ headers, body }) =>
          new Webhook(one.secret).verify(body, headers as Record<string, string>),
        ) as Record<string, unknown>[];
      expect(messages.map(({ type, sequence }) => [type, sequence])).to.deep.equal([
        ["webhook.ping", 1],
        ["webhook.ping", 2],
      ]);
      expect(messages[0]?.["data"]).to.include({ id: one.id, url: receiver.url });
      expect(JSON.stringify(messages)).not.to.include("secret");
      expect(
        receiver.requests.slice(before).map(({ headers }) => headers["webhook-id"]),
      ).to.deep.equal(pings);
      const entries = await served.app.app.db.find(
        auditLogs,
        "WHERE action = 'webhook_endpoint.tested' AND target_id = $1 ORDER BY id",
        [one.id],
      );
      expect(entries.map(({ changes }) => changes)).to.deep.equal(
        pings.map((eventId) => ({ eventId })),
      );
    });

    it("is sent no test event while disabled", async () => {
      const { id } = await create();
      await expectStatus(post(`${home}/${id}/disable`, merchant.key), 200);
      expectProblem(await post(`${home}/${id}/test`, merchant.key), 409, "endpoint_disabled");
      const rotated = await post(`${home}/${id}/rotate-secret`, merchant.key, {});
      expect(rotated.body["status"]).to.equal("disabled");
    });
  },
  { settings: { TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.1/32" } },
);
