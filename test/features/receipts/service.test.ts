import { expect } from "chai";
import { makeReceiptService } from "../../../src/features/receipts/service.ts";
import type { Verified } from "../../../src/features/receipts/signed-text.ts";
import { deriveSigningKey } from "../../../src/platform/secrets/signing-keys.ts";
import { stillClock } from "../../support/app.ts";
import { refusal } from "../../support/invoice-services-fixture.ts";
import { testNetworks } from "../../support/merchants.ts";
import { serverSecret } from "../../support/secret.ts";
import { receiptClaims } from "./documents.ts";

const now = Date.UTC(2026, 10, 21, 9, 30, 0, 999);
const expiresAt = new Date(now).toISOString();

/** The fields of a checkout's session that documents are made of. */
const session = {
  id: receiptClaims.checkoutId,
  state: "awaiting",
  nextAction: "pay",
  merchantDisplayName: "Café Zürich",
  merchantWebsite: null,
  merchantContactEmail: null,
  isTest: false,
  receipt: null,
  invoice: {
    id: "ipub_p7k29qxd4mtr",
    reference: "P7K2-9QXD",
    network: "tron",
    tokenSymbol: "USDT",
    walletAddress: receiptClaims.walletAddress,
    remainingAmount: "25.0001",
    receivedAmount: "0.00",
    expiresAt,
    description: null,
    externalId: null,
  },
};
type Session = Omit<typeof session, "receipt"> & { readonly receipt: object | null };

function serviceWith(found: Session | null) {
  return makeReceiptService({
    clock: stillClock(now),
    keys: { current: () => deriveSigningKey(serverSecret, 1) } as never,
    checkout: {
      session: () => Promise.resolve(found as never),
      confirmedSession: () => Promise.resolve(found as never),
    },
    networks: testNetworks("tron"),
    baseUrl: () => "https://pay.example/till",
  });
}

describe("The signed documents of a checkout", () => {
  const request = (changes: object = {}, invoice: object = {}) =>
    serviceWith({
      ...session,
      ...changes,
      invoice: { ...session.invoice, ...invoice },
    }).paymentRequest(session.id);

  it("request a payment while one is asked for, on a network that is known", async () => {
    const { claims } = await request();
    expect(claims).to.include({
      iat: Math.floor(now / 1_000),
      chainId: 728_126_428,
      tokenContract: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
      remainingAmount: "25.0001",
    });
    // The network no longer has the token.
    expect((await request({}, { tokenSymbol: "GONE" })).claims.tokenContract).to.equal(null);
    for (const nothing of [request({ nextAction: "wait" }), request({}, { network: "removed" })]) {
      expect((await refusal(nothing)).code).to.equal("nothing_to_pay");
    }
  });

  it("are a receipt only of an invoice that is paid, with every payment confirmed", async () => {
    const paid = { ...receiptClaims, paidAt: expiresAt };
    const { claims } = await serviceWith({ ...session, receipt: paid }).receipt(session.id);
    expect(claims).to.include({
      paidAt: expiresAt,
      paidAmount: "25.00",
      iss: "https://pay.example/till",
    });
    for (const found of [null, session]) {
      expect((await refusal(serviceWith(found).receipt(session.id))).code).to.equal("not_paid");
    }
  });

  it("are over after the deadline of a payment request, and never of a receipt", () => {
    const service = serviceWith(null);
    const isOver = (kind: Verified["kind"], ms: number) =>
      service.isOver({
        kind,
        claims: { expiresAt: new Date(now + ms).toISOString() },
      } as unknown as Verified);
    expect([-1, 0, 1].map((ms) => isOver("payment_request", ms))).to.deep.equal([
      true,
      false,
      false,
    ]);
    expect(isOver("receipt", -1)).to.equal(false);
  });
});
