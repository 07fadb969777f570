import { expect } from "chai";
import { runInNewContext } from "node:vm";
import {
  isEventOf,
  verifyWebhook,
  WebhookVerificationError,
  type Event,
  type EventName,
  type EventOf,
  type Invoice,
  type Refund,
  type WebhookEvent,
} from "../../src/client/index.ts";
import { newWebhookSecret, sign } from "../../src/platform/outbound/standard-webhooks.ts";
import { systemRandom } from "../../src/platform/secrets/tokens.ts";

const secret = newWebhookSecret(systemRandom);
const old = newWebhookSecret(systemRandom);
const now = Date.parse("2026-01-31T12:00:00.000Z");
const body = JSON.stringify({ type: "invoice.paid", data: { id: "inv_1", amount: "25.00 €" } });

function signed(secrets: readonly string[], ageSeconds = 0) {
  const timestampSeconds = now / 1_000 - ageSeconds;
  return { ...sign({ id: "evt_1", timestampSeconds, body: Buffer.from(body), secrets }) };
}

async function faultOf(changes: Partial<Parameters<typeof verifyWebhook>[0]>): Promise<string> {
  try {
    await verifyWebhook({ body, headers: signed([secret]), secret, now, ...changes });
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.fault;
    throw error;
  }
  return "none";
}

describe("verifyWebhook", () => {
  it("returns the event with its id, for text, bytes, and both kinds of headers", async () => {
    const headers = signed([secret]);
    const bytes = new TextEncoder().encode(body);
    for (const each of [body, Buffer.from(body), bytes, bytes.buffer]) {
      const event = await verifyWebhook({ body: each, headers, secret, now });
      expect(event).to.deep.equal({ ...(JSON.parse(body) as object), id: "evt_1" });
    }
    expect(await faultOf({ headers: new Headers(headers) })).to.equal("none");
    const named = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]),
    );
    expect(await faultOf({ headers: named })).to.equal("none");
  });

  it("is followed by a look at the noun or the type of the event, which gives the data its type", () => {
    const namesOf = (type: string) =>
      (["invoice", "invoice.paid", "webhook"] as const).filter((name) => isEventOf({ type }, name));
    expect(namesOf("invoice.paid")).to.deep.equal(["invoice", "invoice.paid"]);
    expect(namesOf("invoice.later_type")).to.deep.equal(["invoice"]);
    expect(namesOf("webhook.ping")).to.deep.equal(["webhook"]);
    for (const other of ["payment.detected", "invoices.paid", "webhook_endpoint.failing"]) {
      expect(namesOf(other), other).to.deep.equal([]);
    }
  });

  it("types the data by a comparison, by a switch, and by a variable", () => {
    // The compiler checks the types of the returned values.
    const amountOf = (event: WebhookEvent): string => {
      switch (event.type) {
        case "invoice.paid":
        case "invoice.expired":
          return event.data.excessAmount;
        case "refund.requested":
          return event.data.paymentId;
        default:
          return event.type === "payment.detected" ? event.data.amount : event.type;
      }
    };
    const invoiceOf = (event: WebhookEvent, wanted: "invoice.paid" | "invoice.expired") =>
      isEventOf(event, wanted) ? event.data.excessAmount : null;
    const firstOf = <Name extends EventName>(events: readonly Event[], name: Name) =>
      events.find((event): event is EventOf<Name, Event> => isEventOf(event, name));
    const invoice = (event: EventOf<"invoice">): Invoice => event.data;
    const refund = (event: EventOf<"refund.sent">): Refund => event.data;

    const data = { id: "inv_1", excessAmount: "1.00", objectVersion: 2 };
    const paid = { id: "evt_1", type: "invoice.paid", data } as unknown as EventOf<"invoice.paid">;
    expect(amountOf(paid)).to.equal("1.00");
    expect(invoiceOf(paid, "invoice.paid")).to.equal("1.00");
    expect(invoiceOf(paid, "invoice.expired")).to.equal(null);
    expect(firstOf([paid], "invoice.paid")?.data.excessAmount).to.equal("1.00");
    expect(firstOf([paid], "refund")?.data.paymentId).to.equal(undefined);
    expect(invoice(paid)).to.equal(data);
    // @ts-expect-error -- an event of another noun
    expect(refund(paid)).to.equal(data);
    // @ts-expect-error -- no such noun
    expect(isEventOf(paid, "invoices")).to.equal(false);
  });

  it("accepts each of the secrets of a rotation, on either side", async () => {
    expect(await faultOf({ headers: signed([secret, old]), secret: old })).to.equal("none");
    expect(await faultOf({ headers: signed([old]), secret: [secret, old] })).to.equal("none");
    expect(await faultOf({ headers: signed([old]) })).to.equal("wrong_signature");
  });

  it("refuses changed bodies, ids and times, and other versions of signatures", async () => {
    const headers = signed([secret]);
    expect(await faultOf({ body: `${body} ` })).to.equal("wrong_signature");
    for (const [name, value] of [
      ["webhook-id", "evt_2"],
      ["webhook-timestamp", String(now / 1_000 - 1)],
      ["webhook-signature", headers["webhook-signature"].replace("v1,", "v1a,")],
      ["webhook-signature", "v1,%%%"],
      ["webhook-signature", "v1,"],
    ] as const) {
      expect(await faultOf({ headers: { ...headers, [name]: value } }), value).to.equal(
        "wrong_signature",
      );
    }
    const other = { ...headers, "webhook-timestamp": "1e3" };
    expect(await faultOf({ headers: other })).to.equal("malformed_header");
  });

  it("refuses deliveries beyond the tolerance, and those that lack a header", async () => {
    expect(await faultOf({ headers: signed([secret], 301) })).to.equal("too_old");
    expect(await faultOf({ headers: signed([secret], -301) })).to.equal("too_new");
    expect(await faultOf({ headers: signed([secret], 301), toleranceSeconds: 600 })).to.equal(
      "none",
    );
    const { "webhook-signature": _signature, ...less } = signed([secret]);
    expect(await faultOf({ headers: less })).to.equal("missing_header");
    expect(await faultOf({ headers: {} })).to.equal("missing_header");
  });

  it("refuses a signed body other than an event, and throws a TypeError for a malformed secret", async () => {
    for (const text of ["not JSON", "{}", "null", "7", '{"type":"invoice.paid"}', '{"data":{}}']) {
      const message = { id: "evt_1", timestampSeconds: now / 1_000, body: Buffer.from(text) };
      const headers = { ...sign({ ...message, secrets: [secret] }) };
      expect(await faultOf({ body: text, headers }), text).to.equal("malformed_body");
    }
    for (const wrong of ["", "secret", [], [secret, "whsec_"]]) {
      const error: unknown = await faultOf({ secret: wrong }).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(TypeError);
    }
  });

  it("names a body that was parsed already, which would fit no signature", async () => {
    for (const parsed of [JSON.parse(body), undefined, null, 7, [...Buffer.from(body)]]) {
      const error: unknown = await faultOf({ body: parsed as string }).catch(
        (thrown: unknown) => thrown,
      );
      expect(error)
        .to.be.instanceOf(TypeError)
        .with.property("message")
        .that.include("raw text or bytes");
    }
  });

  it("takes the bytes of another realm, such as those of a test runner's sandbox", async () => {
    const foreign: unknown = runInNewContext("Uint8Array.from(bytes)", {
      bytes: [...Buffer.from(body)],
    });
    expect(await faultOf({ body: foreign as Uint8Array })).to.equal("none");
  });
});
