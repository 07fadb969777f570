import { expect } from "chai";
import {
  makeRefundLedger,
  type RefundablePayment,
} from "../../../../src/features/payments/refunds/refundable.ts";

/** Takes 4 units of a sent refund back, and returns whether they are requested again, with the payment's refunds. */
async function takenBack(surplus: bigint, refundRequested: bigint, refunded: bigint) {
  const saved: unknown[] = [];
  const settled: unknown[] = [];
  const tx = {
    update: (_table: unknown, changes: object) => Promise.resolve(void saved.push(changes)),
  };
  const invoices = {
    settleInvoices: (...given: unknown[]) => Promise.resolve(void settled.push(given)),
  };
  const payment = {
    id: "pay_1",
    invoiceId: "inv_1",
    status: "confirmed",
    refundRequested,
    refunded,
  };
  const found = { payment, surplus, network: { id: "base" }, terms: new Map(), stored: [payment] };
  const ledger = makeRefundLedger({ invoices } as never);
  const unproved = found as unknown as RefundablePayment;
  const isRequested = await ledger.takeBack(tx as never, unproved, 4n, 0);
  expect(settled).to.have.length(1);
  return [isRequested, ...saved];
}

describe("A sent refund that nothing proves", () => {
  it("is requested again if the surplus covers it with the payment's other refunds", async () => {
    const again = (refundRequested: bigint, refunded: bigint) => [
      true,
      { refundRequested, refunded },
    ];
    expect(await takenBack(4n, 0n, 4n)).to.deep.equal(again(4n, 0n));
    expect(await takenBack(9n, 3n, 6n)).to.deep.equal(again(7n, 2n));
  });

  it("is not requested again once the surplus is gone, or others are requested or were sent of it", async () => {
    const gone = (refundRequested: bigint, refunded: bigint) => [
      false,
      { refundRequested, refunded },
    ];
    expect(await takenBack(0n, 0n, 4n)).to.deep.equal(gone(0n, 0n));
    expect(await takenBack(3n, 0n, 4n)).to.deep.equal(gone(0n, 0n));
    expect(await takenBack(4n, 3n, 4n)).to.deep.equal(gone(3n, 0n));
    expect(await takenBack(8n, 3n, 6n)).to.deep.equal(gone(3n, 2n));
  });
});
