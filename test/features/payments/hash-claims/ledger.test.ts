// The transfers that are entered for a submitted transaction, and its result.
import { usdt } from "../../../support/amounts.ts";
import { expect } from "chai";
import { reversePayment } from "../../../../src/features/payments/decisions/decide-payment.ts";
import type { InvoiceView } from "../../../../src/features/invoices/records.ts";
import { holds } from "../../../../src/features/invoices/table.ts";
import {
  recordClaimedTransfers,
  decideClaim,
} from "../../../../src/features/payments/hash-claims/ledger.ts";
import type { TimedLog } from "../../../../src/features/payments/ledger/chain-diff.ts";
import {
  transfers,
  type PaymentRow,
  type TransferRow,
} from "../../../../src/features/payments/table.ts";
import type { Database } from "../../../../src/platform/database/database.ts";
import { anyStore, testContext } from "../../../support/store/stores.ts";
import { finalHeight, known, openBook, type Book } from "../../../support/ledger.ts";

anyStore("A submitted transaction", (store) => {
  let db: Database;
  let book: Book;
  before(async () => {
    db = await store.open();
  });
  beforeEach(async () => {
    book = await openBook(db);
  });

  const hashOf = (logs: readonly TimedLog[]): string => known(logs[0]).transactionHash;

  const record = (invoice: InvoiceView, logs: readonly TimedLog[]) =>
    book.write((tx) => {
      const claim = book.claimOf(invoice, hashOf(logs));
      return recordClaimedTransfers(tx, book.app, book.now(), book.network, claim, {
        logs,
        marks: [],
      });
    });

  /** Decides on a transaction. Returns the state of the claim or why it is refused; null if it waits. */
  async function settled(invoice: InvoiceView, logs: readonly TimedLog[]) {
    const outcome = await book.write((tx) => {
      const claim = book.claimOf(invoice, hashOf(logs));
      return decideClaim(tx, book.app, book.now(), book.network, claim, { logs, marks: [] });
    });
    return outcome === null ? null : (outcome.reason ?? outcome.state);
  }

  const stored = (logs: readonly TimedLog[]): Promise<TransferRow[]> =>
    db.find(transfers, "WHERE transaction_hash = $1 ORDER BY log_index", [hashOf(logs)]);

  const shown = (payments: readonly PaymentRow[]) =>
    payments.map(({ amount, rule, status }) => ({ amount, rule, status }));

  /** Returns the logs of an unmatched transaction that pays 12.00 to the shared address. */
  async function unmatched(...others: readonly string[]): Promise<TimedLog[]> {
    const logs = book.logsTo(book.sharedAddress, ["12.00", ...others]);
    await book.enter({ fresh: logs });
    return logs;
  }

  /** Pays 15.00 to an invoice at an address of its own, and reverses the payment. Returns the log. */
  async function reversed(invoice: InvoiceView): Promise<TimedLog[]> {
    const logs = book.logsTo(book.addressOf(invoice), ["15.00"]);
    await book.enter({ fresh: logs });
    const payment = known((await book.paymentsOf(invoice))[0]);
    await reversePayment(book.app, testContext, book.organizationId, payment.id);
    return logs;
  }

  it("that is not on record is entered by the ordinary rules, and is final at once", async () => {
    const invoice = await book.issueShared();
    const logs = book.logsTo(book.sharedAddress, ["10.00", "7.00"]);
    await record(invoice, logs);
    expect((await stored(logs)).map(({ isFinal }) => isFinal)).to.deep.equal([true, true]);
    const exact = { amount: usdt("10.00"), rule: "exact_amount", status: "confirming" } as const;
    expect(shown(await book.paymentsOf(invoice))).to.deep.equal([exact]);
    expect(await settled(invoice, logs)).to.equal("review");
    const submitted = { amount: usdt("7.00"), rule: "submitted_hash", status: "review" } as const;
    expect(shown(await book.paymentsOf(invoice))).to.deep.equal([exact, submitted]);
  });

  it("that is on record without an invoice pays by the ordinary rules too", async () => {
    const logs = await unmatched();
    const invoice = await book.issueShared({ amount: "12.00" });
    await record(invoice, logs);
    expect(shown(await book.paymentsOf(invoice))).to.deep.equal([
      { amount: usdt("12.00"), rule: "exact_amount", status: "confirming" },
    ]);
    expect(await settled(invoice, logs)).to.equal("credited");
  });

  it("that has an invoice or a payment keeps what the watcher stored, whatever time is reported now", async () => {
    const [invoice, rejected] = [await book.issue(), await book.issue()];
    const logs = book.logsTo(book.addressOf(invoice), ["10.00"]);
    await book.enter({ fresh: logs });
    for (const [of, given] of [
      [invoice, logs],
      [rejected, await reversed(rejected)],
    ] as const) {
      const before = [await stored(given), await book.paymentsOf(of)];
      await record(
        of,
        given.map((log) => ({ ...log, blockTime: log.blockTime + 1_000 })),
      );
      expect([await stored(given), await book.paymentsOf(of)]).to.deep.equal(before);
    }
  });

  it("waits for the watcher, which has not reached it or has yet to follow it to another block", async () => {
    const invoice = await book.issueShared();
    const above = book.logsTo(book.sharedAddress, ["7.00"], { height: finalHeight + 1 });
    await record(invoice, above);
    expect(await stored(above)).to.deep.equal([]);
    expect(await settled(invoice, above)).to.equal(null);
    const logs = await unmatched();
    await book.enter({ orphaned: await stored(logs) });
    const before = await stored(logs);
    const { transactionHash: hash, blockTime: time, from } = known(logs[0]);
    const sent = { height: finalHeight, hash, time, from };
    const moved = book.logsTo(book.sharedAddress, ["12.00", "7.00"], sent);
    await record(invoice, moved);
    expect(await stored(moved)).to.deep.equal(before);
    expect(await settled(invoice, moved)).to.equal(null);
    // It was not entered.
    const fresh = book.logsTo(book.sharedAddress, ["7.00"]);
    expect(await settled(invoice, fresh)).to.equal(null);
  });

  it("is refused if another invoice asks for exactly its amount, but not if it is another's within a tolerance", async () => {
    for (const [asked, outcome] of [
      [{ amount: "12.00" }, "taken"],
      [{ amount: "12.50", underpaymentTolerance: "5" }, "review"],
    ] as const) {
      book = await openBook(db);
      const invoice = await book.issueShared();
      const logs = await unmatched();
      await book.issueShared(asked);
      expect(await settled(invoice, logs)).to.equal(outcome);
      expect(await book.paymentsOf(invoice)).to.have.length(outcome === "taken" ? 0 : 1);
    }
  });

  it("is not refused for an invoice that no longer asks for its amount, nor for one of two that may", async () => {
    const invoice = await book.issueShared();
    const paid = await book.issueShared({ amount: "12.00" });
    await unmatched();
    expect(shown(await book.paymentsOf(paid))).to.have.length(1);
    expect(await settled(invoice, await unmatched())).to.equal("review");
    const logs = book.logsTo(book.sharedAddress, ["14.00"]);
    await book.enter({ fresh: logs });
    const next = await book.issueShared({ amount: "14.00" });
    const [held] = await db.find(holds, "WHERE invoice_id = $1", [next.id]);
    // As if an earlier invoice had held the same amount.
    const at = book.now();
    const former = { id: book.ids.next("hold", at), invoiceId: invoice.id };
    await book.write((tx) =>
      tx.insert(holds, { ...known(held), ...former, releasedAt: at, recycledAt: at }),
    );
    expect(await settled(invoice, logs)).to.equal("review");
  });

  it("at another invoice's own address is that invoice's, whatever it still asks for", async () => {
    const [invoice, other] = [await book.issue(), await book.issue()];
    expect(await settled(invoice, await reversed(other))).to.equal("taken");
    expect(await settled(invoice, await reversed(invoice))).to.equal("rejected");
  });

  it("is in review with those of its transfers that are free", async () => {
    const invoice = await book.issueShared();
    const logs = await unmatched("7.00");
    await book.issueShared({ amount: "12.00" });
    expect(await settled(invoice, logs)).to.equal("review");
    expect(shown(await book.paymentsOf(invoice))).to.deep.equal([
      { amount: usdt("7.00"), rule: "submitted_hash", status: "review" },
    ]);
  });
});
