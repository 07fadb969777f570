import { expect } from "chai";
import {
  progressFacts,
  receiptFacts,
  sumFacts,
  totalText,
  type Fact,
} from "../../../src/features/checkout/page/facts.ts";
import { en } from "./shipped-languages.ts";
import type { CheckoutSession } from "../../../src/features/checkout/session.ts";
import { checkoutStates } from "../../../src/features/checkout/rules.ts";

function sessionWith(changes: object = {}, invoice: object = {}): CheckoutSession {
  return {
    state: "awaiting",
    nextAction: "pay",
    networkTitle: "TRON",
    tokenStandard: "TRC-20",
    merchantDisplayName: "Café Zürich",
    arrivedAmounts: [],
    receipt: null,
    ...changes,
    invoice: {
      status: "open",
      amount: "25.00",
      settlementCurrency: "USD",
      tokenSymbol: "USDT",
      payableAmount: "25.0001",
      receivedAmount: "0.00",
      excessAmount: "0.00",
      reference: "P7K2-9QXD",
      expiresAt: "2026-11-21T10:30:00.000Z",
      description: null,
      externalId: null,
      ...invoice,
    },
  } as unknown as CheckoutSession;
}

const lines = (facts: readonly Fact[]) => facts.map(({ label, value }) => `${label}: ${value}`);
const receipt = { paidAt: "2026-11-21T09:31:00.000Z" };

describe("the facts of a checkout", () => {
  const deadlineOf = (changes: object, invoice: object = {}) =>
    progressFacts(sessionWith(changes, invoice), en).find(({ time }) => time !== null)?.label;

  it("are what was asked for and what has arrived, each in its token", () => {
    const arrivedAmounts = [
      { amount: "10.00", tokenSymbol: "USDT" },
      { amount: "3.00", tokenSymbol: "DAI" },
    ];
    expect(lines(progressFacts(sessionWith({ arrivedAmounts }), en))).to.deep.equal([
      "Amount requested: 25.0001 USDT ($25.00)",
      "Received: 10.00 USDT",
      "Received: 3.00 DAI",
      "Network: TRON (TRC-20)",
      "Pay by: 21 Nov 2026, 10:30 UTC",
      "Reference: P7K2-9QXD",
    ]);
    const inTokens = { settlementCurrency: "USDT", amount: "25.00", payableAmount: "25.00" };
    const [asked] = lines(progressFacts(sessionWith({}, inTokens), en));
    expect(asked).to.equal("Amount requested: 25.00 USDT");
  });

  it("have the deadline where it concerns the payer", () => {
    const withDeadline = checkoutStates.filter((state) => deadlineOf({ state }) !== undefined);
    expect(withDeadline).to.have.members([
      ...["awaiting", "partly_paid", "cannot_check", "late_review"],
      ...["paid", "overpaid", "paid_late", "expired_unpaid", "expired_partly_paid"],
    ]);
    const notAccepted = { state: "cannot_check", nextAction: "contact_merchant" };
    expect(deadlineOf(notAccepted)).to.equal(undefined);
    // A merchant who is to be contacted elsewhere has not stopped taking payments.
    expect(deadlineOf({ ...notAccepted, state: "expired_partly_paid" })).to.equal("Pay by");
  });

  it("say that the deadline has passed once the payer knows", () => {
    for (const [changes, invoice, label] of [
      [{}, {}, "Pay by"],
      [{}, { status: "expired" }, "Time to pay ended"],
      [{ state: "late_review", nextAction: "wait" }, {}, "Time to pay ended"],
      [{ state: "cannot_check", nextAction: "check_again" }, {}, "Time to pay ended"],
      [{ state: "cannot_check" }, {}, "Pay by"],
    ] as const) {
      expect(deadlineOf(changes, invoice), JSON.stringify([changes, invoice])).to.equal(label);
    }
  });

  it("are on a receipt the purchase, the amounts and the time of the payment", () => {
    const bare = ["Merchant: Café Zürich", "Order total: 25.0001 USDT ($25.00)"];
    const paid = { receivedAmount: "25.0001" };
    const rest = ["Network: TRON (TRC-20)", "Paid: 21 Nov 2026, 09:31 UTC", "Reference: P7K2-9QXD"];
    expect(lines(receiptFacts(sessionWith({ receipt }, paid), en))).to.deep.equal([
      ...bare,
      "Received: 25.0001 USDT",
      ...rest,
    ]);
    const more = {
      description: "Tea",
      externalId: "R-1",
      receivedAmount: "26.0001",
      excessAmount: "1.00",
    };
    const [merchant, total] = bare;
    expect(lines(receiptFacts(sessionWith({ receipt }, more), en))).to.deep.equal([
      merchant,
      "For: Tea",
      "Order: R-1",
      total,
      "Received: 26.0001 USDT",
      "Overpaid by: 1.00 USDT",
      ...rest,
    ]);
  });

  it("are sums only of a payment that is complete and too much, until the excess was sent back", () => {
    const over = { receivedAmount: "30.00", excessAmount: "4.9999" };
    const sums = (changes: object, invoice: object = over) =>
      lines(sumFacts(sessionWith({ nextAction: "request_refund", ...changes }, invoice), en));
    expect(sums({ receipt })).to.deep.equal([
      "You paid: 30.00 USDT",
      "Order total: 25.0001 USDT",
      "Too much: 4.9999 USDT",
    ]);
    expect(sums({})).to.deep.equal([]);
    expect(sums({ receipt }, { receivedAmount: "25.0001" })).to.deep.equal([]);
    expect(sums({ receipt, nextAction: "none" })).to.deep.equal([]);
    expect(totalText(sessionWith({ receipt }, over))).to.equal("25.0001 USDT");
  });
});
