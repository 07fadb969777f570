import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import {
  newWebhookSecret,
  sign,
  verify,
} from "../../../src/platform/outbound/standard-webhooks.ts";
import { systemRandom } from "../../../src/platform/secrets/tokens.ts";

const text = JSON.stringify({
  type: "invoice.paid",
  timestamp: "2026-01-01T00:00:00.000Z",
  data: { ünï: "✓" },
});
const body = Buffer.from(text);
const nowSeconds = () => Math.floor(Date.now() / 1_000);

describe("webhook signatures", () => {
  it("equal the example of the specification", () => {
    const headers = sign({
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      timestampSeconds: 1_614_265_330,
      body: Buffer.from('{"test": 2432232314}'),
      secrets: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    });
    expect(headers).to.deep.equal({
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    });
  });

  it("are accepted by the public library only for unchanged messages", () => {
    const secret = newWebhookSecret(systemRandom);
    const library = new Webhook(secret);
    const headers = sign({ id: "evt_1", timestampSeconds: nowSeconds(), body, secrets: [secret] });
    expect(library.verify(text, { ...headers })).to.deep.equal(JSON.parse(text));

    const altered = text.replace("paid", "paiD");
    expect(() => library.verify(altered, { ...headers })).to.throw();
    expect(() => library.verify(text, { ...headers, "webhook-id": "evt_2" })).to.throw();
    expect(() =>
      new Webhook(newWebhookSecret(systemRandom)).verify(text, { ...headers }),
    ).to.throw();
    const old = sign({
      id: "evt_1",
      timestampSeconds: nowSeconds() - 301,
      body,
      secrets: [secret],
    });
    expect(() => library.verify(text, { ...old })).to.throw("timestamp");
  });

  it("verify with each of two secrets during a rotation", () => {
    const secrets = [newWebhookSecret(systemRandom), newWebhookSecret(systemRandom)];
    const headers = sign({ id: "evt_1", timestampSeconds: nowSeconds(), body, secrets });
    expect(headers["webhook-signature"].split(" ")).to.have.length(2);
    for (const secret of secrets) {
      expect(() => new Webhook(secret).verify(text, { ...headers })).to.not.throw();
    }
  });

  it("are checked as a receiver checks them", () => {
    const secret = newWebhookSecret(systemRandom);
    const other = newWebhookSecret(systemRandom);
    const at = 1_700_000_000;
    const headers = sign({ id: "evt_1", timestampSeconds: at, body, secrets: [other, secret] });
    expect(verify(headers, { body, secret, nowSeconds: at + 300 })).to.equal(true);
    expect(verify(headers, { body, secret, nowSeconds: at - 300 })).to.equal(true);
    expect(verify(headers, { body, secret, nowSeconds: at + 301 })).to.equal(false);
    expect(verify(headers, { body, secret, nowSeconds: at - 301 })).to.equal(false);
    const altered = Buffer.from(body);
    altered[0] = 0x7c;
    expect(verify(headers, { body: altered, secret, nowSeconds: at })).to.equal(false);
    const third = newWebhookSecret(systemRandom);
    expect(verify(headers, { body, secret: third, nowSeconds: at })).to.equal(false);
    expect(verify({}, { body, secret, nowSeconds: at })).to.equal(false);
    const noTime = { ...headers, "webhook-timestamp": "soon" };
    expect(verify(noTime, { body, secret, nowSeconds: at })).to.equal(false);
  });

  it("use secrets of 256 bits", () => {
    const secret = newWebhookSecret(systemRandom);
    expect(secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(newWebhookSecret(systemRandom)).to.not.equal(secret);
  });

  it("are refused for inputs that violate the specification", () => {
    const secrets = [newWebhookSecret(systemRandom)];
    const good = { id: "evt_1", timestampSeconds: 1, body, secrets };
    expect(() => sign({ ...good, id: "evt.1" })).to.throw();
    expect(() => sign({ ...good, id: "evt\r\nx" })).to.throw();
    expect(() => sign({ ...good, id: "" })).to.throw();
    expect(() => sign({ ...good, timestampSeconds: 1.5 })).to.throw();
    expect(() => sign({ ...good, secrets: [] })).to.throw();
    expect(() => sign({ ...good, secrets: ["secret"] })).to.throw();
    expect(() => sign({ ...good, secrets: ["whsec_"] })).to.throw();
  });
});
