import { usdt } from "../../support/amounts.ts";
import { expect } from "chai";
import type { PaymentRow } from "../../../src/features/payments/table.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { known, newHash, openBook, refusal, type Book } from "../../support/ledger.ts";
import { anyStore } from "../../support/store/stores.ts";

anyStore("A refund that the merchant records", (store) => {
  let db: Database;
  let book: Book;
  before(async () => {
    db = await store.open();
  });
  beforeEach(async () => {
    book = await openBook(db);
  });

  /** A payment of 10.00, of which its invoice needs 5.00. */
  const overpaid = async (): Promise<PaymentRow> =>
    known((await book.paid(await book.issue({ amount: "5.00" }), "10.00"))[0]);

  it("is at most the surplus that no other refund takes, which the refusal names", async () => {
    const payment = await overpaid();
    await book.reject(await book.refund(payment, "0.000001"));
    const { code, message } = await refusal(book.refund(payment, "5.000001"));
    expect(code).to.equal("refund_too_large");
    expect(message).to.contain("5.00 USDT of this payment can be refunded");
    expect(await book.paymentNow(payment)).to.include({ refundRequested: 0n });
    const refund = await book.refund(payment, "5.00");
    expect(refund).to.include({ status: "requested", source: "merchant", amount: usdt("5.00") });
    expect(await book.paymentNow(payment)).to.include({ refundRequested: usdt("5.00") });
  });

  it("takes another transaction until one is in a block, wakes the network's worker for each, and is unchanged by the same one again", async () => {
    const payment = await overpaid();
    const refund = await book.refund(payment, "5.00");
    const [first, second] = [newHash(), newHash()];
    for (const [place, hash] of [first, second].entries()) {
      book.advance(1_000);
      book.woken();
      const sent = await book.send(refund, hash);
      const version = place + 2;
      expect(sent).to.include({ status: "sent", transactionHash: hash, version });
      expect(sent.sentAt).to.equal(book.now());
      expect(book.woken()).to.deep.equal(["ethereum"]);
      expect(await book.send(refund, hash)).to.deep.equal(sent);
      expect(await book.refundNow(refund)).to.deep.equal(sent);
      expect(book.woken()).to.deep.equal([]);
    }
    expect(await book.eventsOf(refund)).to.deep.equal([
      "refund.requested",
      "refund.sent",
      "refund.sent",
    ]);
    // The payment's sums have it once.
    expect(await book.paymentNow(payment)).to.include({
      refundRequested: 0n,
      refunded: usdt("5.00"),
    });
  });

  it("has a transaction that pays no other refund, and is not the payment's own", async () => {
    const [one, other] = [await overpaid(), await overpaid()];
    const sent = await book.send(await book.refund(one, "5.00"));
    const refund = await book.refund(other, "5.00");
    for (const [hash, words] of [
      [sent.transactionHash, `pays ${sent.id}`],
      [other.transactionHash, "the transaction of the payment"],
    ] as const) {
      const { code, message } = await refusal(book.send(refund, known(hash)));
      expect(code).to.equal("transaction_used");
      expect(message).to.contain(words);
    }
    expect(await book.refundNow(refund)).to.deep.equal(refund);
  });
});
