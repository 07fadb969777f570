import { expect } from "chai";
import type { PayableTerms } from "../../../../src/features/invoices/index.ts";
import {
  surplusOf,
  type SurplusPayment,
} from "../../../../src/features/payments/ledger/surplus.ts";

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
    const surpluses = ledger.map((each) =>
      surplusOf(
        each,
        { status: "paid", terms, ledger },
        { transfer: { amount: 10n, status: "seen" }, claiming: [each] },
      ),
    );
    expect(surpluses).to.deep.equal([10n, 0n, 10n]);
  });
});
