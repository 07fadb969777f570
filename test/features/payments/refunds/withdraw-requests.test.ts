import { usdt } from "../../../support/amounts.ts";
import { expect } from "chai";
import { allocateTransfer } from "../../../../src/features/payments/inbox/allocation.ts";
import {
  acceptPayment,
  rejectPayment,
} from "../../../../src/features/payments/decisions/decide-payment.ts";
import type { InvoiceView } from "../../../../src/features/invoices/records.ts";
import type { PaymentRow } from "../../../../src/features/payments/table.ts";
import type { RefundRow } from "../../../../src/features/refunds/store.ts";
import type { Database } from "../../../../src/platform/database/database.ts";
import { anyStore, testContext } from "../../../support/store/stores.ts";
import { known, openBook, type Book } from "../../../support/ledger.ts";

anyStore("Requested refunds after a change of payments", (store) => {
  let db: Database;
  let book: Book;
  before(async () => {
    db = await store.open();
  });
  beforeEach(async () => {
    book = await openBook(db);
  });

  /** Pays 10.00 to a canceled invoice, which the merchant rejects. Returns the payment, which can be refunded. */
  async function rejectedOf(invoice: InvoiceView): Promise<PaymentRow> {
    const payment = known((await book.pay(invoice, ["10.00"]))[0]);
    await rejectPayment(book.app, testContext, book.organizationId, payment.id);
    await book.verify(payment);
    return payment;
  }

  async function canceled(): Promise<InvoiceView> {
    const invoice = await book.issue();
    await book.cancel(invoice);
    return invoice;
  }

  /** Returns the refund's status, why Till rejected it, and what is reserved for it. */
  async function stateOf(refund: RefundRow) {
    const { status, refusal, paymentId } = await book.refundNow(refund);
    const { refundRequested } = await book.paymentNow({ id: paymentId });
    return [status, refusal, refundRequested];
  }

  it("stay while the rest of the transfer covers them with what was refunded, and are withdrawn once another invoice has more of it", async () => {
    const payment = await rejectedOf(await canceled());
    await book.prove(await book.send(await book.refund(payment, "4.00")));
    const refund = await book.refund(payment, "2.00");
    const allocate = async (amount: string) => {
      const { id: invoiceId } = await book.issue();
      const allocations = [{ invoiceId, amount }];
      const { app, organizationId } = book;
      await allocateTransfer(app, testContext, organizationId, payment.transferId, allocations);
    };
    await allocate("4.00");
    expect(await stateOf(refund)).to.deep.equal(["requested", null, usdt("2.00")]);
    await allocate("0.01");
    expect(await stateOf(refund)).to.deep.equal(["rejected", "surplus_gone", 0n]);
    expect(await book.eventsOf(refund)).to.deep.equal(["refund.requested", "refund.rejected"]);
  });

  it("are withdrawn if the invoice needs their payment after all, and those of its other payments stay", async () => {
    const invoice = await canceled();
    const needed = known((await book.pay(invoice, ["10.00"]))[0]);
    await book.verify(needed);
    const other = await rejectedOf(invoice);
    const [first, second] = [await book.refund(needed, "1.00"), await book.refund(other, "10.00")];
    await acceptPayment(book.app, testContext, book.organizationId, needed.id);
    expect(await stateOf(first)).to.deep.equal(["rejected", "surplus_gone", 0n]);
    expect(await stateOf(second)).to.deep.equal(["requested", null, usdt("10.00")]);
  });

  it("are withdrawn if a reorganization takes their surplus, and a refund that was sent is left alone", async () => {
    const invoice = await book.issue();
    const paid = await book.paid(invoice, "10.00", "10.00", "10.00", "10.00");
    const [oldest, second] = [known(paid[0]), known(paid[1])];
    const [middle, newest] = [known(paid[2]), known(paid[3])];
    const sent = await book.send(await book.refund(middle, "10.00"));
    const requested = await book.refund(newest, "10.00");
    await book.drop(second);
    expect(await stateOf(requested)).to.deep.equal(["requested", null, usdt("10.00")]);
    expect(await book.refundNow(sent)).to.deep.equal(sent);
    // The invoice needs what is left beside the refund that was sent.
    await book.drop(oldest);
    expect(await stateOf(requested)).to.deep.equal(["rejected", "surplus_gone", 0n]);
    expect(await book.refundNow(sent)).to.deep.equal(sent);
    expect(await book.paymentNow(middle)).to.include({ refunded: usdt("10.00") });
  });
});
