import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import { roles } from "../../../src/http/declare/permissions.ts";
import { auditLogs } from "../../../src/platform/audit/chain.ts";
import { webhookEndpoints } from "../../../src/features/webhooks/table.ts";
import { events } from "../../../src/platform/events/outbox.ts";
import {
  approvedMerchant,
  colleague,
  expectStatus,
  keyOf,
  register,
  startApp,
  type Merchant,
  type TestApp,
} from "../../support/app.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import { until } from "../../support/until.ts";

eachStore("the webhooks API", (store) => {
  let app: TestApp;
  let receiver: Receiver;
  let merchant: Merchant;
  let path: string;

  before(async () => {
    app = await startApp({
      place: await store.place("migrated"),
      settings: { TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.1/32" },
    });
    receiver = await startReceiver();
  });
  beforeEach(async () => {
    merchant = await approvedMerchant(app);
    ({ path } = merchant);
  });
  after(async () => {
    await receiver.close();
    await app.stop();
  });

  const create = (body: object, headers: Record<string, string> = {}) =>
    app.request("POST", `${path}/webhook-endpoints`, { key: merchant.key, body, headers });

  it("lets admins change and everyone read endpoints", async () => {
    for (const role of roles) {
      const { token } = await colleague(app, merchant, role);
      const made = await app.request("POST", `${path}/webhook-endpoints`, {
        token,
        body: { url: receiver.url },
      });
      expect(made.status, role).to.equal(role === "admin" || role === "owner" ? 201 : 403);
      const list = await app.request("GET", `${path}/webhook-endpoints`, { token });
      expect(list.status, role).to.equal(200);
    }
    const reading = await keyOf(app, merchant, "read");
    const refused = await app.request("POST", `${path}/webhook-endpoints`, {
      key: reading,
      body: { url: receiver.url },
    });
    expect(refused.status).to.equal(403);
  });

  it("is closed to strangers and other organizations", async () => {
    const body = { url: receiver.url };
    const anonymous = await app.request("POST", `${path}/webhook-endpoints`, { body });
    expect(anonymous.status).to.equal(401);
    const other = await register(app, "Eve");
    for (const [method, rest] of [
      ["GET", "webhook-endpoints"],
      ["GET", "webhook-deliveries"],
      ["POST", "webhook-endpoints"],
    ] as const) {
      const answer = await app.request(method, `${path}/${rest}`, {
        token: other.token,
        ...(method === "POST" ? { body } : {}),
      });
      expect(answer.status).to.equal(404);
    }
    const made = await create(body);
    const foreign = `${other.path}/webhook-endpoints/${String(made.body["id"])}`;
    const stolen = await app.request("PATCH", foreign, { token: other.token, body: {} });
    expect(stolen.status).to.equal(404);
    const ended = await app.request("POST", `${foreign}/disable`, { token: other.token });
    expect(ended.status).to.equal(404);
  });

  it("creates an endpoint whose secret is shown once and stored encrypted", async () => {
    const made = await create(
      { url: receiver.url, description: "Books", eventTypes: ["invoice.paid"] },
      { "Idempotency-Key": "one" },
    );
    expect(made.status).to.equal(201);
    const { id, secret } = made.body as { id: string; secret: string };
    expect(secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(made.body).to.include({
      url: receiver.url,
      description: "Books",
      status: "enabled",
      disabledReason: null,
    });
    const again = await create(
      { url: receiver.url, description: "Books", eventTypes: ["invoice.paid"] },
      { "Idempotency-Key": "one" },
    );
    expect(again.body).to.deep.equal(made.body);
    const row = await app.app.db.findOne(webhookEndpoints, "WHERE id = $1", [id]);
    expect(JSON.stringify(row)).to.not.contain(secret.slice(6));
    const list = await app.request("GET", `${path}/webhook-endpoints`, { key: merchant.key });
    expect(list.text).to.not.contain("secret");
    expect(list.body["data"]).to.have.length(1);
    const audited = await app.app.db.find(auditLogs, "WHERE target_id = $1 ORDER BY id", [id]);
    expect(audited.map((entry) => entry.action)).to.deep.equal(["webhook_endpoint.created"]);
    expect(JSON.stringify(audited)).to.not.contain("whsec_");
  });

  it("refuses forbidden addresses, and says what to change", async () => {
    for (const url of ["not a url", "ftp://example.com/", "https://user:pw@example.com/", ""]) {
      const refused = await create({ url });
      expect(refused.status, url).to.equal(400);
      expect(refused.body["errors"]).to.have.nested.property("[0].pointer", "/url");
    }
    for (const url of [
      "http://10.0.0.1/",
      "https://169.254.169.254/latest/meta-data",
      "https://[::1]/",
      "https://0xa.1/",
      "https://nowhere.invalid/",
      "http://example.com/",
      `${app.url}/v1/organizations`,
    ]) {
      const refused = await create({ url });
      expect(refused.status, url).to.equal(422);
      expect(refused.body["code"]).to.equal("webhook_url_refused");
    }
  });

  it("refuses unknown event types, and more than ten endpoints", async () => {
    for (const eventTypes of [
      ["invoice.payed"],
      ["invoice.paid", "invoice.paid"],
      "invoice.paid",
    ]) {
      const refused = await create({ url: receiver.url, eventTypes });
      expect(refused.status).to.equal(400);
    }
    const made = await Promise.all(Array.from({ length: 64 }, () => create({ url: receiver.url })));
    expect(made.filter(({ status }) => status === 201)).to.have.length(10);
    const [refused] = made.filter(({ status }) => status !== 201);
    expect(refused).to.have.property("status", 409);
    expect(refused?.body["code"]).to.equal("webhook_endpoint_limit");
    const first = String(made.find(({ status }) => status === 201)?.body["id"]);
    const endpoint = `${path}/webhook-endpoints/${first}`;
    await app.request("POST", `${endpoint}/disable`, { key: merchant.key });
    expect((await create({ url: receiver.url })).status).to.equal(201);
    const enabling = await app.request("PATCH", endpoint, {
      key: merchant.key,
      body: { status: "enabled" },
    });
    expect(enabling.status).to.equal(409);
  });

  it("enables no more than ten endpoints when 64 are created and enabled at once", async () => {
    const ids = await Promise.all(
      Array.from({ length: 10 }, async () =>
        String((await create({ url: receiver.url })).body["id"]),
      ),
    );
    const off = ids.slice(0, 4).map((id) => `${path}/webhook-endpoints/${id}`);
    for (const endpoint of off) {
      await expectStatus(app.request("POST", `${endpoint}/disable`, { key: merchant.key }), 200);
    }
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, place) =>
        place % 2 === 0
          ? create({ url: receiver.url })
          : app.request("PATCH", off[Math.floor(place / 2) % off.length] ?? "", {
              key: merchant.key,
              body: { status: "enabled" },
            }),
      ),
    );
    expect(answers.filter(({ status }) => ![200, 201, 409].includes(status))).to.deep.equal([]);
    const enabled = await app.app.db.find(
      webhookEndpoints,
      "WHERE organization_id = $1 AND status = 'enabled'",
      [merchant.organizationId],
    );
    expect(enabled).to.have.length(10);
  });

  it("changes an endpoint unless it was changed in the meantime", async () => {
    const made = await create({ url: receiver.url, description: "Books" });
    const endpoint = `${path}/webhook-endpoints/${String(made.body["id"])}`;
    const change = (body: object, headers = {}) =>
      app.request("PATCH", endpoint, { key: merchant.key, body, headers });
    const changed = await change({ description: null, eventTypes: ["invoice.paid"] });
    expect(changed.status).to.equal(200);
    expect(changed.body).to.deep.include({ description: null, eventTypes: ["invoice.paid"] });
    const tag = changed.headers.get("ETag") ?? "";
    expect((await change({ url: `${receiver.url}2` }, { "If-Match": tag })).status).to.equal(200);
    expect((await change({ url: receiver.url }, { "If-Match": tag })).status).to.equal(412);
    expect((await change({ url: null })).status).to.equal(400);
    expect((await change({ url: "https://10.0.0.1/" })).status).to.equal(422);
    const off = await app.request("POST", `${endpoint}/disable`, { key: merchant.key });
    expect(off.body).to.include({ status: "disabled", disabledReason: "Disabled on request." });
    const twice = await app.request("POST", `${endpoint}/disable`, { key: merchant.key });
    expect(twice.body).to.deep.equal(off.body);
    expect((await change({ description: "Off" })).body).to.include({ status: "disabled" });
    const on = await change({ status: "enabled" });
    expect(on.body).to.include({ status: "enabled", disabledReason: null });
    const offAgain = await change({ status: "disabled" });
    expect(offAgain.body).to.include({
      status: "disabled",
      disabledReason: "Disabled on request.",
    });
    const id = String(made.body["id"]);
    const entries = await app.app.db.find(auditLogs, "WHERE target_id = $1 ORDER BY id", [id]);
    const actions = ["created", "updated", "updated", "disabled", "updated", "enabled", "disabled"];
    expect(entries.map(({ action }) => action)).to.deep.equal(
      actions.map((action) => `webhook_endpoint.${action}`),
    );
    const raised = await app.app.db.find(events, "WHERE object_id = $1 ORDER BY id", [id]);
    expect(raised.map(({ type }) => type)).to.deep.equal([
      "webhook_endpoint.disabled",
      "webhook_endpoint.disabled",
    ]);
  });

  it("changes an endpoint that was paused since it was read, whose tag then differs", async () => {
    const made = await create({ url: receiver.url });
    const id = String(made.body["id"]);
    const endpoint = `${path}/webhook-endpoints/${id}`;
    const read = (headers = {}) => app.request("GET", endpoint, { key: merchant.key, headers });
    const tag = (await read()).headers.get("ETag") ?? "";
    const paused = { failingSince: 1_000, pausedSince: 2_000, probeAt: 3_000, lastFailure: "500" };
    await app.app.db.write(testContext, (tx) =>
      tx.update(webhookEndpoints, paused, "WHERE id = $1", [id]),
    );
    const now = await read({ "If-None-Match": tag });
    expect([now.status, now.body["lastFailure"]]).to.deep.equal([200, "500"]);
    const tagNow = now.headers.get("ETag") ?? "";
    expect(tagNow).not.to.equal(tag);
    expect((await read({ "If-None-Match": tagNow })).status).to.equal(304);
    const change = (headers: Record<string, string>) =>
      app.request("PATCH", endpoint, {
        key: merchant.key,
        body: { description: `Read as ${String(headers["If-Match"])}` },
        headers,
      });
    const changed = await expectStatus(change({ "If-Match": tag }), 200);
    expect(changed.body, "a note says nothing about the receiver").to.include({
      pausedSince: new Date(paused.pausedSince).toISOString(),
      lastFailure: "500",
    });
    expect(changed.headers.get("ETag")).to.equal((await read()).headers.get("ETag"));
    for (const late of [tag, tagNow, tag.replace(/\..*"/, '"')]) {
      await expectStatus(change({ "If-Match": late }), 412);
    }
    await expectStatus(change({ "If-Match": `W/${changed.headers.get("ETag") ?? ""}` }), 200);
  });

  it("lists deliveries by endpoint, status and type", async () => {
    const made = await create({ url: receiver.url, eventTypes: ["customer.created"] });
    const { id, secret } = made.body as { id: string; secret: string };
    // Deliveries of other tests may still arrive at the same receiver.
    const received = () =>
      receiver.requests.filter(
        ({ body }) =>
          (JSON.parse(body) as { organizationId: string }).organizationId ===
          merchant.organizationId,
      );
    for (const name of ["Ada", "Bob", "Cyd"]) {
      const customer = await app.request("POST", `${path}/customers`, {
        key: merchant.key,
        body: { name },
      });
      expect(customer.status).to.equal(201);
    }
    await until(
      "the deliveries",
      () => received().length,
      (count) => count === 3,
    );
    for (const { headers, body } of received()) {
      new Webhook(secret).verify(body, headers as Record<string, string>);
    }
    const list = (query: string) =>
      app.request("GET", `${path}/webhook-deliveries?${query}`, { key: merchant.key });
    await until(
      "the outcomes",
      () => list("status=succeeded"),
      ({ body }) => (body["data"] as unknown[]).length === 3,
    );
    const [newest] = (await list("limit=1")).body["data"] as Record<string, unknown>[];
    expect(newest).to.include({
      webhookEndpointId: id,
      eventType: "customer.created",
      status: "succeeded",
      attempts: 1,
      nextAttemptAt: null,
      responseStatus: 200,
      lastError: null,
      replayOf: null,
    });
    const count = async (query: string) => ((await list(query)).body["data"] as unknown[]).length;
    expect(await count(`webhookEndpointId=${id}`)).to.equal(3);
    expect(await count("eventType=customer.created&status=succeeded")).to.equal(3);
    expect(await count("eventType=invoice.paid")).to.equal(0);
    expect(await count("status=dead_letter")).to.equal(0);
    expect((await list("status=lost")).status).to.equal(400);
    expect((await list("webhookEndpointId=nobody")).status).to.equal(400);
    const ids: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await list(`limit=2${cursor === null ? "" : `&cursor=${cursor}`}`);
      ids.push(...(page.body["data"] as { id: string }[]).map((each) => each.id));
      cursor = page.body["nextCursor"] as string | null;
    } while (cursor !== null);
    expect(new Set(ids).size).to.equal(3);
    expect(ids).to.deep.equal([...ids].sort().reverse());

    const replayed = await app.request(
      "POST",
      `${path}/webhook-deliveries/${ids[0] ?? ""}/replay`,
      { key: merchant.key },
    );
    expect(replayed.status).to.equal(202);
    expect(replayed.body).to.include({ replayOf: ids[0], status: "pending" });
    await until(
      "the replay",
      () => received().length,
      (count) => count === 4,
    );
  });
});
