// Which payment a payer asks to have refunded.
import { usdt } from "../../support/amounts.ts";
import { expect } from "chai";
import {
  offerPayerRefund,
  requestPayerRefund,
} from "../../../src/features/refunds/payer/payer-refunds.ts";
import { rejectPayment } from "../../../src/features/payments/decisions/decide-payment.ts";
import type { InvoiceView } from "../../../src/features/invoices/records.ts";
import type { PaymentRow } from "../../../src/features/payments/table.ts";
import { refunds } from "../../../src/features/refunds/store.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import {
  blocks,
  known,
  newAddress,
  newHash,
  openBook,
  refusal,
  type Book,
} from "../../support/ledger.ts";
import { anyStore, testContext } from "../../support/store/stores.ts";

anyStore("The request of a payer for a refund", (store) => {
  let db: Database;
  let book: Book;
  before(async () => {
    db = await store.open();
  });
  beforeEach(async () => {
    book = await openBook(db);
  });

  /** A canceled invoice with payments of 10.00 by one transaction, in review and verified, oldest first. */
  async function canceled(count: number, height: number = blocks.final) {
    const invoice = await book.issue();
    await book.cancel(invoice);
    const amounts = Array.from({ length: count }, () => "10.00");
    const payments = await book.pay(invoice, amounts, { height });
    if (height === blocks.final) await book.verify(...payments);
    return { invoice, payments };
  }

  const inputOf = ({ transactionHash }: PaymentRow) => ({
    transactionHash,
    address: `0x${newAddress()}`,
  });
  const request = (invoice: InvoiceView, payment: PaymentRow) =>
    book.write((tx) => requestPayerRefund(tx, book.app, invoice, inputOf(payment)));
  const offer = (invoice: InvoiceView, payment: PaymentRow) =>
    offerPayerRefund(book.app, testContext, invoice, inputOf(payment));

  /** Returns the payments of which payers have asked for refunds, in order. */
  async function asked({ id }: InvoiceView) {
    const rows = await db.find(refunds, "WHERE invoice_id = $1 AND source = 'payer' ORDER BY id", [
      id,
    ]);
    return rows.map(({ paymentId, amount, status }) => ({ paymentId, amount, status }));
  }

  const requestOf = ({ id: paymentId }: PaymentRow, amount = "10.00") => ({
    paymentId,
    amount: usdt(amount),
    status: "requested",
  });

  /** Has the payer ask for a refund that the merchant rejects, three times. */
  async function rejectThrice(invoice: InvoiceView, payment: PaymentRow): Promise<void> {
    for (let times = 0; times < 3; times += 1) {
      await request(invoice, payment);
      const [refund] = await db.find(refunds, "WHERE payment_id = $1 AND status = 'requested'", [
        payment.id,
      ]);
      await book.reject(known(refund));
    }
  }

  it("is for the newest payment by the transaction, then for the older one, and then finds the open one", async () => {
    const { invoice, payments } = await canceled(2);
    const [older, newer] = [known(payments[0]), known(payments[1])];
    // A newer one by another transaction.
    await book.verify(...(await book.pay(invoice, ["10.00"])));
    expect(await request(invoice, older)).to.equal("requested");
    expect(await request(invoice, older)).to.equal("requested");
    expect(await asked(invoice)).to.deep.equal([requestOf(newer), requestOf(older)]);
    expect(await request(invoice, older)).to.equal("open");
    expect(await offer(invoice, older)).to.equal(null);
    expect(await asked(invoice)).to.have.length(2);
  });

  it("is for what is left of the newest payment, and for the older one if nothing is or a part is requested", async () => {
    for (const [amount, isProved, left] of [
      ["6.00", true, "4.00"],
      ["10.00", true, null],
      ["6.00", false, null],
    ] as const) {
      const { invoice, payments } = await canceled(2);
      const [older, newer] = [known(payments[0]), known(payments[1])];
      const refund = await book.refund(newer, amount);
      if (isProved) await book.prove(await book.send(refund));
      expect((await offer(invoice, newer))?.amount).to.equal(left ?? "10.00");
      expect(await request(invoice, newer)).to.equal("requested");
      const expected = left === null ? requestOf(older) : requestOf(newer, left);
      expect(await asked(invoice)).to.deep.equal([expected]);
    }
  });

  it("is for the older payment once only the merchant may refund the newest one", async () => {
    const { invoice, payments } = await canceled(2);
    const [older, newer] = [known(payments[0]), known(payments[1])];
    await rejectThrice(invoice, newer);
    expect(await request(invoice, newer)).to.equal("requested");
    expect((await asked(invoice)).at(-1)).to.deep.equal(requestOf(older));
  });

  it("is for no payment that the merchant rejected, if only a submitted hash had assigned it", async () => {
    const invoice = await book.issue();
    await book.cancel(invoice);
    const payment = await book.submitted(invoice, "7.00");
    await book.verify(payment);
    expect(await offer(invoice, payment)).to.include({ amount: "7.00" });
    await rejectPayment(book.app, testContext, book.organizationId, payment.id);
    const { code } = await refusal(request(invoice, payment));
    expect(code).to.equal("not_refundable");
  });

  it("is refused without a payment by the transaction, and once the merchant has rejected three, and nothing is stored", async () => {
    const { invoice, payments } = await canceled(1);
    const payment = known(payments[0]);
    const expectRefused = async (asking: PaymentRow, code: string, words: string) => {
      const before = await asked(invoice);
      for (const ask of [request, offer]) {
        const problem = await refusal(ask(invoice, asking));
        expect(problem.code).to.equal(code);
        expect(problem.message).to.contain(words);
      }
      expect(await asked(invoice)).to.deep.equal(before);
    };
    const unknown = { ...payment, transactionHash: newHash() };
    await expectRefused(unknown, "not_refundable", "no confirmed payment of this invoice");
    await rejectThrice(invoice, payment);
    await expectRefused(payment, "too_many_refund_requests", "rejected 3 requests");
    const short = await refusal(
      offerPayerRefund(book.app, testContext, invoice, {
        ...inputOf(payment),
        transactionHash: "12",
      }),
    );
    expect(short.errors[0]).to.include({ pointer: "/transactionHash" });
  });

  it("is too early while the payment's block can be replaced, or is asked about once more", async () => {
    const young = await canceled(1, blocks.young);
    await book.verify(...young.payments);
    // Its block is final for certain, and nobody has verified its transfer yet.
    const unverified = await canceled(1, 900);
    for (const [{ invoice, payments }, words] of [
      [young, "its block can still be replaced, and has 6 of about 97 confirmations"],
      [unverified, "the network is asked about it once more"],
    ] as const) {
      const { code, message } = await refusal(offer(invoice, known(payments[0])));
      expect(code).to.equal("refund_too_early");
      expect(message).to.contain(words);
    }
  });
});
