// Refusals of webhook endpoints and replays, by name.
import { expect } from "chai";
import { approvedMerchant, startApp, type Merchant, type TestApp } from "../../support/app.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import { anyStore } from "../../support/store/stores.ts";
import { until } from "../../support/until.ts";

const endpointsMax = 10;

anyStore("the webhooks API refuses", (store) => {
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
    receiver.answer(200);
    merchant = await approvedMerchant(app);
    ({ path } = merchant);
  });
  after(async () => {
    await receiver.close();
    await app.stop();
  });

  const post = (rest: string, body: object = {}) =>
    app.request("POST", `${path}/${rest}`, { key: merchant.key, body });

  const addresses = [
    ["has a user and a password", "https://user:pw@example.com/hook", 400],
    ["has a user", "https://user@example.com/hook", 400],
    ["has a fragment", "https://example.com/hook#part", 400],
    ["is of ftp", "ftp://example.com/hook", 400],
    ["is of file", "file:///etc/passwd", 400],
    ["is a script", "javascript:alert(1)", 400],
    ["is plain http outside the allow-list", "http://example.com/hook", 422],
    ["is a name that nobody knows", "https://intranet.invalid/hook", 422],
    ["is a private address", "https://192.168.0.1/hook", 422],
    ["is a private address as one number", "https://3232235521/hook", 422],
    ["is a private IPv4 address in IPv6", "https://[::ffff:10.0.0.1]/hook", 422],
  ] as const;
  for (const [what, url, status] of addresses) {
    it(`an address that ${what}`, async () => {
      const refused = await post("webhook-endpoints", { url });
      expect(refused.status, refused.text).to.equal(status);
      expect(refused.body["code"]).to.equal(
        status === 400 ? "invalid_request" : "webhook_url_refused",
      );
    });
  }

  it("an unknown event type, by its place in the list", async () => {
    const refused = await post("webhook-endpoints", {
      url: receiver.url,
      eventTypes: ["invoice.paid", "invoice.payed"],
    });
    expect(refused.status).to.equal(400);
    expect(refused.body["errors"]).to.have.nested.property("[0].pointer", "/eventTypes/1");
    expect(refused.body["errors"])
      .to.have.nested.property("[0].message")
      .that.includes('"invoice.payed"')
      .and.includes("did you mean invoice.paid?");
  });

  it("the eleventh endpoint", async () => {
    for (let count = 0; count < endpointsMax; count += 1) {
      expect((await post("webhook-endpoints", { url: receiver.url })).status).to.equal(201);
    }
    const refused = await post("webhook-endpoints", { url: receiver.url });
    expect(refused.status).to.equal(409);
    expect(refused.body["code"]).to.equal("webhook_endpoint_limit");
  });

  /** An endpoint and its one delivery, as it stands once it fits. */
  async function delivery(fits: (one: Record<string, unknown>) => boolean) {
    const made = await post("webhook-endpoints", {
      url: receiver.url,
      eventTypes: ["customer.created"],
    });
    expect((await post("customers", { name: "Ada" })).status).to.equal(201);
    const list = async () => {
      const answer = await app.request("GET", `${path}/webhook-deliveries`, { key: merchant.key });
      return (answer.body["data"] as Record<string, unknown>[])[0];
    };
    const found = await until("a delivery", list, (one) => one !== undefined && fits(one));
    return { endpointId: String(made.body["id"]), id: String(found?.["id"]) };
  }

  const isOver = ({ status }: Record<string, unknown>) => status === "succeeded";

  it("the replay of a delivery that will be retried", async () => {
    receiver.answer(500);
    const { id } = await delivery(({ status }) => status === "failed");
    const refused = await post(`webhook-deliveries/${id}/replay`);
    expect(refused.status, refused.text).to.equal(409);
    expect(refused.body["code"]).to.equal("delivery_in_flight");
    expect(refused.body["detail"]).to.match(
      /^Its next attempt is at \d{4}-.*till webhook trigger wep_/,
    );
  });

  it("the replay of another organization's delivery, like a missing one", async () => {
    const { id } = await delivery(isOver);
    const other = await approvedMerchant(app);
    const replay = (deliveryId: string) => other.post(`/webhook-deliveries/${deliveryId}/replay`);
    const [stolen, absent] = [await replay(id), await replay(`${id.slice(0, -4)}0000`)];
    expect(stolen.status).to.equal(404);
    expect(absent.status).to.equal(404);
    expect(stolen.body["code"]).to.equal(absent.body["code"]);
  });

  it("the replay at a disabled endpoint", async () => {
    const { endpointId, id } = await delivery(isOver);
    expect((await post(`webhook-endpoints/${endpointId}/disable`)).status).to.equal(200);
    const refused = await post(`webhook-deliveries/${id}/replay`);
    expect(refused.status).to.equal(409);
    expect(refused.body["code"]).to.equal("endpoint_disabled");
  });
});
