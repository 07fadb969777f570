// Ways into the network of the server, tried as a merchant would: what listens there is never connected to.
import { expect } from "chai";
import { createWebhookEndpoint } from "../../../src/features/webhooks/endpoints.ts";
import { webhookAttempts } from "../../../src/features/webhooks/table.ts";
import { hostileUrls } from "../../platform/outbound/hostile-urls.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import { approvedMerchant, startApp, type Merchant, type TestApp } from "../../support/app.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import { install } from "./sending.ts";

const publicAddress = "93.184.216.34";

eachStore("a canary in the server's network", (store) => {
  // These tests do not depend on the database.
  if (store.dialect === "postgres") return;

  let app: TestApp;
  let canary: Receiver;
  let merchant: Merchant;

  before(async () => {
    app = await startApp({ place: await store.place("migrated") });
    canary = await startReceiver();
    merchant = await approvedMerchant(app);
  });
  after(async () => {
    await canary.close();
    await app.stop();
  });

  it("is not reachable through an endpoint's address, created or changed", async () => {
    const { key } = merchant;
    const path = `${merchant.path}/webhook-endpoints`;
    const good = { url: `https://${publicAddress}/hook`, eventTypes: ["wallet.archived"] };
    const made = await app.request("POST", path, { key, body: good });
    expect(made.status, made.text).to.equal(201);
    const own = `${path}/${String(made.body["id"])}`;
    for (const hostile of hostileUrls) {
      const url = hostile.replaceAll("PORT", String(canary.port));
      for (const refused of [
        await app.request("POST", path, { key, body: { url } }),
        await app.request("PATCH", own, { key, body: { url } }),
      ]) {
        const { status, body } = refused;
        expect({ url, is: `${String(status)} ${String(body["code"])}` })
          .to.have.property("is")
          .that.is.oneOf(["400 invalid_request", "422 webhook_url_refused"], url);
      }
    }
    const list = await app.request("GET", path, { key });
    expect((list.body["data"] as { url: string }[]).map(({ url }) => url)).to.deep.equal([
      good.url,
    ]);
    expect(canary.connections()).to.equal(0);
  });

  it("is not reachable through a name whose address changes between check and connection", async () => {
    const answers = [[publicAddress], ["127.0.0.1"]];
    const db = await store.open();
    const here = await install(db, {
      allowCidrs: [],
      resolve: () => Promise.resolve(answers.shift() ?? ["127.0.0.1"]),
    });
    try {
      const url = `https://rebind.test:${String(canary.port)}/hook`;
      await createWebhookEndpoint(here.app, testContext, here.shop, { url }, undefined, here.guard);
      await here.emit("invoice.paid");
      await here.deliver();
      const [delivery] = await here.deliveries();
      expect(delivery).to.include({ status: "dead_letter", attempts: 1 });
      const [attempt] = await db.find(webhookAttempts, "");
      expect(attempt).to.include({ errorKind: "blocked", bodyExcerpt: null });
    } finally {
      await here.close();
    }
    expect(canary.connections()).to.equal(0);
  });

  it("is not reachable through a redirect of an allowed receiver", async () => {
    const door = await startReceiver((_request, response) => {
      const location = `http://127.0.0.1:${String(canary.port)}/`;
      response.writeHead(307, { location }).end();
    });
    const here = await install(await store.open());
    try {
      await here.endpoint(door.port);
      await here.emit("invoice.paid");
      await here.deliver();
      const [delivery] = await here.deliveries();
      expect(delivery).to.include({ status: "failed", responseStatus: 307 });
      expect(door.requests).to.have.length(1);
    } finally {
      await door.close();
      await here.close();
    }
    expect(canary.connections()).to.equal(0);
  });
});
