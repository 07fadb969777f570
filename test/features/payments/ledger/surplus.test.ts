import { expect } from "chai";
import type { PayableTerms } from "../../../../src/features/invoices/index.ts";
import {
  surplusOf,
  type SurplusInputs,
  type SurplusPayment,
} from "../../../../src/features/payments/ledger/surplus.ts";

/** Returns the surplus of each payment of a paid invoice. */
function surplusesOf(terms: SurplusInputs["terms"], ledger: readonly SurplusPayment[]) {
  return ledger.map((each) =>
    surplusOf(
      each,
      { status: "paid", terms, ledger },
      { transfer: { amount: 10n, status: "seen" }, claiming: [each] },
    ),
  );
}

describe("the surplus of an invoice that is paid on two networks", () => {
  const quotes = ["one", "two"].map((network) => ({
    network,
    tokenSymbol: "USDT",
    payableAmount: 10n,
  })) as unknown as PayableTerms["quotes"];
  const asked = { askedAmount: 10n, roundingSlack: 0n, payableAmount: 10n };
  const terms = { ...asked, quotes, managedBy: null };
  const payment = (place: number, network: string, blockHeight: number, blockTime: number) =>
    ({
      id: `pay_${String(place)}`,
      network,
      token: "USDT",
      amount: 10n,
      status: "confirmed",
      statusWhenBack: null,
      refundRequested: 0n,
      refunded: 0n,
      blockHeight,
      blockTime,
    }) as SurplusPayment;

  it("is the excess, although a block time that nobody confirmed contradicts the heights", () => {
    const ledger = [
      payment(1, "one", 5, 250),
      payment(2, "one", 6, 200),
      payment(3, "two", 900, 220),
    ];
    expect(surplusesOf(terms, ledger)).to.deep.equal([10n, 0n, 10n]);
  });

  it("takes nothing from a confirmed payment for one that is not confirmed, and may never have happened", () => {
    const single = { ...terms, quotes: [] };
    const [early, late] = [payment(1, "one", 5, 100), payment(2, "one", 6, 200)];
    const unconfirmed = { ...early, status: "confirming" } as SurplusPayment;
    for (const each of [terms, single]) {
      expect(surplusesOf(each, [unconfirmed, late])).to.deep.equal([0n, 0n]);
      expect(surplusesOf(each, [early, late])).to.deep.equal([0n, 10n]);
    }
  });

  it("is nothing while the invoice waits for its payments, or if another feature keeps it", () => {
    const counted = payment(1, "one", 5, 100);
    const inReview = { ...counted, status: "review" } as SurplusPayment;
    const of = (each: SurplusPayment, inputs: Partial<SurplusInputs>) =>
      surplusOf(
        each,
        { status: "paid", terms: { ...terms, askedAmount: 4n }, ledger: [each], ...inputs },
        { transfer: { amount: 10n, status: "seen" }, claiming: [each] },
      );
    expect(of(counted, {})).to.equal(6n);
    expect(of(counted, { terms: { ...terms, managedBy: "billing" } })).to.equal(0n);
    for (const status of ["open", "partially_paid", "confirming"] as const) {
      expect(of(counted, { status }), status).to.equal(0n);
      expect(of(inReview, { status }), status).to.equal(0n);
    }
    for (const status of ["expired", "canceled"] as const) {
      expect(of(counted, { status }), status).to.equal(10n);
      expect(of(inReview, { status }), status).to.equal(10n);
    }
    expect(of({ ...counted, status: "rejected" }, { status: "open" })).to.equal(10n);
  });

  it("is nothing for a payment in a token that the invoice does not ask for", () => {
    const foreign = { ...payment(1, "one", 5, 100), token: "USDC" };
    expect(surplusesOf({ ...terms, askedAmount: 1n }, [foreign])).to.deep.equal([0n]);
  });
});
