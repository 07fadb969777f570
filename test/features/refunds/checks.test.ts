import { usdt } from "../../support/amounts.ts";
import { expect } from "chai";
import { reversePayment } from "../../../src/features/payments/decisions/decide-payment.ts";
import { invoices } from "../../../src/features/invoices/table.ts";
import type { InvoiceStatus } from "../../../src/features/invoices/rules.ts";
import { payments, transfers, type PaymentRow } from "../../../src/features/payments/table.ts";
import { refundChecks } from "../../../src/features/refunds/checks.ts";
import { refunds, type RefundRow } from "../../../src/features/refunds/store.ts";
import type { Database, Tx } from "../../../src/platform/database/database.ts";
import { anyStore, testContext, whileBroken } from "../../support/store/stores.ts";
import { blocks, known, newHash, openBook, type Book } from "../../support/ledger.ts";

anyStore("The check of refunds against their payments", (store) => {
  let db: Database;
  let book: Book;
  /** Two confirmed payments of an expired invoice, of 1.00 and 10.00, and a rejected refund of the larger one. */
  let small: PaymentRow;
  let large: PaymentRow;
  let rejected: RefundRow;

  before(async () => {
    db = await store.open();
    book = await openBook(db);
    const invoice = await book.issue({ amount: "20.00" });
    const paid = await book.paid(invoice, "1.00", "10.00");
    [small, large] = [known(paid[0]), known(paid[1])];
    book.advance(2 * 60 * 60 * 1_000);
    await book.sweep(await book.scan("ethereum"));
    rejected = await book.reject(await book.refund(large, "9.00"));
  });

  /** Stores refunds of a payment beside the rejected one, each with an amount in units of the token. */
  async function add(
    tx: Tx,
    payment: PaymentRow,
    given: readonly (readonly [RefundRow["status"], bigint])[],
  ): Promise<void> {
    for (const [status, amount] of given) {
      const id = book.ids.next("refund", book.now());
      const transactionHash = status === "requested" ? null : newHash();
      const { id: paymentId, transactionHash: paymentHash } = payment;
      const named = { id, status, amount, paymentId, paymentHash, transactionHash };
      await tx.insert(refunds, { ...rejected, ...named });
    }
  }

  const setSums = (tx: Tx, { id }: PaymentRow, refundRequested: bigint, refunded: bigint) =>
    tx.update(payments, { refundRequested, refunded }, "WHERE id = $1", [id]);

  /** Changes the store, and returns the faults that the check finds. */
  async function faultsOf(breakIt: (tx: Tx) => Promise<unknown>): Promise<readonly string[]> {
    const check = known(refundChecks.find(({ name }) => name === "refunds.surplus"));
    const found = await whileBroken(db, breakIt, (reader) => check.run(reader));
    return found.map(({ row, fault }) => `${row}: ${fault}`);
  }

  it("finds sums that differ from the refunds of the payment, requested and sent apart", async () => {
    const sums = (requested: bigint, refunded: bigint, open: "requested" | "sent" = "requested") =>
      faultsOf(async (tx) => {
        await add(tx, large, [
          [open, 2n],
          ["confirmed", 3n],
          ["confirmed", 1n],
        ]);
        await add(tx, small, [["confirmed", 5n]]);
        await setSums(tx, large, requested, refunded);
        await setSums(tx, small, 0n, 5n);
      });
    expect(await sums(2n, 4n)).to.deep.equal([]);
    expect(await sums(0n, 6n, "sent")).to.deep.equal([]);
    const differ = [`${large.id}: Its sums of refunds differ from its refunds.`];
    for (const [requested, refunded] of [
      [1n, 4n],
      [2n, 5n],
      [0n, 6n],
      [4n, 2n],
    ] as const) {
      expect(await sums(requested, refunded)).to.deep.equal(differ);
    }
    expect(await sums(2n, 4n, "sent")).to.deep.equal(differ);
  });

  const ten = 10_000_000n;
  for (const [what, status, other, requested, refunded, surplus] of [
    [
      "allows refunds of the whole surplus of an expired invoice",
      "expired",
      "confirmed",
      6n,
      ten - 6n,
      null,
    ],
    ["counts the requests of an expired invoice", "expired", "confirmed", 7n, ten - 6n, ten],
    [
      "leaves out the requests of an invoice that can still be paid",
      "partially_paid",
      "confirmed",
      7n,
      0n,
      null,
    ],
    [
      "finds what was refunded of an invoice that can still be paid",
      "partially_paid",
      "confirmed",
      0n,
      1n,
      0n,
    ],
    [
      "finds what was refunded of a payment that its paid invoice needs",
      "paid",
      "confirmed",
      0n,
      1n,
      0n,
    ],
    [
      "allows what was refunded before a reorganization removed another payment",
      "partially_paid",
      "reverted",
      0n,
      ten,
      null,
    ],
    [
      "finds more than the payment although a reorganization removed another one",
      "partially_paid",
      "reverted",
      0n,
      ten + 1n,
      0n,
    ],
    [
      "finds a refunded payment that its invoice needs, without a reorganization",
      "partially_paid",
      "confirmed",
      0n,
      ten,
      0n,
    ],
  ] as const satisfies readonly (readonly [
    string,
    InvoiceStatus,
    PaymentRow["status"],
    bigint,
    bigint,
    bigint | null,
  ])[]) {
    it(what, async () => {
      const found = await faultsOf(async (tx) => {
        const { invoiceId } = large;
        await tx.update(invoices, { status }, "WHERE id = $1", [invoiceId]);
        await tx.update(payments, { status: other }, "WHERE id = $1", [small.id]);
        if (requested > 0n) await add(tx, large, [["requested", requested]]);
        if (refunded > 0n) await add(tx, large, [["confirmed", refunded]]);
        await setSums(tx, large, requested, refunded);
      });
      const total = String(status === "expired" ? requested + refunded : refunded);
      const fault = `${total} units of it are refunded, of a surplus of ${String(surplus)}.`;
      expect(found).to.deep.equal(surplus === null ? [] : [`${large.id}: ${fault}`]);
    });
  }

  it("allows what was refunded before a reorganization took the payment's transfer, its confirmations or its place", async () => {
    const overpaid = known((await book.paid(await book.issue({ amount: "5.00" }), "10.00"))[0]);
    await book.send(await book.refund(overpaid, "5.00"));
    await book.move(overpaid, blocks.young);
    expect(await book.paymentNow(overpaid)).to.include({ status: "confirming" });
    const reversed = known((await book.paid(await book.issue(), "10.00"))[0]);
    await reversePayment(book.app, testContext, book.organizationId, reversed.id);
    await book.verify(reversed);
    await book.send(await book.refund(reversed, "10.00"));
    await book.drop(reversed);
    expect(await book.paymentNow(reversed)).to.include({ status: "rejected" });
    // The newest payment of another invoice, which it did not need, becomes its oldest.
    const twice = await book.issue();
    const older = known((await book.pay(twice, ["10.00"], { height: blocks.final }))[0]);
    const newer = known((await book.pay(twice, ["10.00"], { height: blocks.final + 1 }))[0]);
    await book.confirm(older, newer);
    await book.send(await book.refund(newer, "10.00"));
    await book.move(newer, blocks.final - 1);
    await book.confirm(newer);
    expect(await faultsOf(() => Promise.resolve())).to.deep.equal([]);
    const both = await faultsOf(async (tx) => {
      await add(tx, older, [["confirmed", 1n]]);
      await setSums(tx, older, 0n, 1n);
    });
    expect(both).to.have.members([
      `${older.id}: 1 units of it are refunded, of a surplus of 0.`,
      `${newer.id}: 10000000 units of it are refunded, of a surplus of 0.`,
    ]);
    const excess = await faultsOf(async (tx) => {
      await add(tx, overpaid, [["confirmed", 1n]]);
      await setSums(tx, overpaid, 0n, usdt("5.000001"));
    });
    const fault = "5000001 units of it are refunded, of a surplus of 5000000.";
    expect(excess).to.deep.equal([`${overpaid.id}: ${fault}`]);
  });

  it("finds more than is left of the transfer of a payment that does not count, although others pay the invoice", async () => {
    const paid = await book.paid(await book.issue(), "10.00", "10.00");
    const other = known(paid[1]);
    const found = await faultsOf(async (tx) => {
      await tx.update(payments, { status: "rejected" }, "WHERE id = $1", [other.id]);
      await tx.update(transfers, { amount: 4n }, "WHERE id = $1", [other.transferId]);
      await add(tx, other, [["confirmed", 5n]]);
      await setSums(tx, other, 0n, 5n);
    });
    const fault = "5 units of it are refunded, of a surplus of 4.";
    expect(found).to.deep.equal([`${other.id}: ${fault}`]);
  });
});
