import { usdt } from "../../../support/amounts.ts";
import { expect } from "chai";
import { ignoreTransfer } from "../../../../src/features/payments/inbox/allocation.ts";
import { lockRefundable } from "../../../../src/features/payments/refundable.ts";
import { rejectPayment } from "../../../../src/features/payments/decisions/decide-payment.ts";
import type { PaymentRow } from "../../../../src/features/payments/table.ts";
import type { Database } from "../../../../src/platform/database/database.ts";
import { blocks, known, openBook, refusal, type Book } from "../../../support/ledger.ts";
import { anyStore, testContext } from "../../../support/store/stores.ts";

anyStore("A payment that is refunded", (store) => {
  let db: Database;
  let book: Book;
  before(async () => {
    db = await store.open();
  });
  beforeEach(async () => {
    book = await openBook(db);
  });

  const locked = ({ id }: PaymentRow) =>
    book.write((tx) => lockRefundable(tx, book.app, book.organizationId, id));
  const reject = ({ id }: PaymentRow) =>
    rejectPayment(book.app, testContext, book.organizationId, id);

  /** Pays amounts to a canceled invoice, so that the payments are in review. */
  async function inReview(amounts: readonly string[], height?: number): Promise<PaymentRow[]> {
    const invoice = await book.issue();
    await book.cancel(invoice);
    return book.pay(invoice, amounts, height === undefined ? {} : { height });
  }

  it("has the part of its surplus to give that is neither requested nor refunded, and nothing once that is gone", async () => {
    const payment = known((await book.paid(await book.issue({ amount: "4.00" }), "10.00"))[0]);
    const expectSums = async (surplus: string, free: string) => {
      const found = await locked(payment);
      expect([found.surplus, found.free]).to.deep.equal([usdt(surplus), usdt(free)]);
      expect(found.surplusInTime).to.equal(usdt("6.00"));
    };
    await expectSums("6.00", "6.00");
    const small = await book.refund(payment, "1.00");
    await expectSums("6.00", "5.00");
    await book.send(small);
    await expectSums("6.00", "5.00");
    await book.reject(small);
    await expectSums("6.00", "6.00");
    await book.send(await book.refund(payment, "6.00"));
    await expectSums("6.00", "0.00");
    // In another block, the payment needs its confirmations again.
    await book.move(payment, blocks.young);
    await expectSums("0.00", "0.00");
    await book.move(payment, blocks.final);
    await book.confirm(payment);
    await expectSums("6.00", "0.00");
  });

  it("is confirmed if it counts and is confirmed, or if its transfer is final, and only on the chain", async () => {
    const expectCertain = async (
      payment: PaymentRow,
      isConfirmed: boolean,
      isVerified: boolean,
    ) => {
      expect(await locked(payment)).to.include({ isConfirmed, isVerified });
    };
    const [open] = await book.pay(await book.issue(), ["10.00"], { height: blocks.confirmed });
    const counted = known(open);
    await expectCertain(counted, false, false);
    await book.confirm(counted);
    await expectCertain(counted, true, true);
    const [final] = await book.pay(await book.issue(), ["10.00"]);
    await expectCertain(known(final), false, false);
    const [waiting, rejected] = await inReview(["10.00", "10.00"]);
    await reject(known(rejected));
    const [young, youngRejected] = await inReview(["10.00", "10.00"], blocks.confirmed);
    await reject(known(youngRejected));
    for (const payment of [waiting, rejected]) await expectCertain(known(payment), true, false);
    for (const payment of [young, youngRejected]) {
      await expectCertain(known(payment), false, false);
    }
    await book.verify(known(rejected));
    await expectCertain(known(rejected), true, true);
    await book.drop(known(rejected));
    await expectCertain(known(rejected), false, true);
  });

  it("leaves its transfer to allocate again once its refund has ended, unless that is ignored", async () => {
    const [inbox, ignored] = await inReview(["10.00", "10.00"]);
    for (const [payment, unrefunded, amount, refunded] of [
      [known(inbox), "unmatched", "10.00", "matched"],
      [known(ignored), "ignored", "4.00", "ignored"],
    ] as const) {
      const disposition = async () => (await book.transferOf(payment)).disposition;
      await reject(payment);
      await book.verify(payment);
      if (unrefunded === "ignored") {
        await ignoreTransfer(book.app, testContext, book.organizationId, payment.transferId);
      }
      const refund = await book.send(await book.refund(payment, amount));
      expect(await disposition()).to.equal(refunded);
      await book.reject(refund);
      expect(await disposition()).to.equal(unrefunded);
    }
  });

  it("has no excess that was refunded of a payment which a reorganization made older", async () => {
    const invoice = await book.issue();
    const older = known((await book.pay(invoice, ["10.00"], { height: 965 }))[0]);
    const newer = known((await book.pay(invoice, ["10.00"], { height: 970 }))[0]);
    await book.confirm(older, newer);
    await book.send(await book.refund(newer, "10.00"));
    await book.move(newer, 960);
    await book.confirm(newer);
    expect(await book.paymentNow(newer)).to.include({ status: "confirmed", blockHeight: 960 });
    expect((await refusal(book.refund(older, "10.00"))).code).to.equal("not_refundable");
  });
});
