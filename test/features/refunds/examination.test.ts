// The writes of an examination of refunds' transactions, by the answers of the network's only provider.
import { usdt } from "../../support/amounts.ts";
import { expect } from "chai";
import { refunds, type RefundRow } from "../../../src/features/refunds/store.ts";
import { minute } from "../../../src/kernel/clock.ts";
import { createAlarms, restSubject } from "../../../src/platform/chain/state/alarms.ts";
import type { ChainClient, Receipt } from "../../../src/platform/chain/client.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { LeaseLost } from "../../../src/platform/jobs/leases.ts";
import { silentLogger } from "../../../src/platform/logger/index.ts";
import { beforeNextWrite } from "../../support/store/before-next-write.ts";
import { anyStore } from "../../support/store/stores.ts";
import { finalHeight, known, newHash, openBook, type Book } from "../../support/ledger.ts";

type Answer = ChainClient["receipt"];

anyStore("An examination of refunds", (store) => {
  let db: Database;
  let book: Book;
  before(async () => {
    db = await store.open();
  });
  beforeEach(async () => {
    book = await openBook(db);
  });
  // Another test's refunds are not due.
  afterEach(async () => {
    const open = "WHERE organization_id = $1 AND status = 'sent'";
    for (const refund of await db.find(refunds, open, [book.organizationId])) {
      await book.reject(refund);
    }
  });

  /** Sends refunds of payments of an invoice, 10.00 each. */
  async function sent(count: number): Promise<RefundRow[]> {
    const invoice = await book.issue();
    await book.cancel(invoice);
    const payments = await book.pay(
      invoice,
      Array.from({ length: count }, () => "10.00"),
    );
    await book.verify(...payments);
    const made: RefundRow[] = [];
    for (const payment of payments) made.push(await book.send(await book.refund(payment, "10.00")));
    return made;
  }

  /** A final block that the chain replaces in some tests. */
  const replaced = finalHeight - 1;
  const holding = () => Promise.resolve();
  const unknown: Answer = () => Promise.resolve(null);
  const broken: Answer = () => Promise.reject(new Error("a defect"));
  const paid =
    (refund: RefundRow, changes: Partial<Receipt> = {}): Answer =>
    (hash) =>
      Promise.resolve(hash === refund.transactionHash ? book.receiptOf(refund, changes) : null);
  const failed = (refund: RefundRow) => paid(refund, { succeeded: false, transfers: [] });

  it("says whether more may be due, and is of none before the network was read", async () => {
    const all = await sent(20);
    const { examine } = book.refundExaminer(unknown);
    expect(await examine(holding)).to.equal(true);
    for (const refund of all) expect(await book.refundNow(refund)).to.include({ attempts: 1 });
    // All of them wait for their next attempts.
    expect(await examine(holding)).to.equal(false);
    await book.reject(known(all[0]));
    book.advance(minute);
    expect(await examine(holding)).to.equal(false);
    expect(await book.refundNow(known(all[1]))).to.include({ attempts: 2 });
    const unread = { ...book.network, id: "unread" };
    expect(await book.refundExaminer(unknown, { network: unread }).examine(holding)).to.equal(
      false,
    );
  });

  it("takes a refused one back as long as the payment's surplus covers it, and rejects it otherwise", async () => {
    for (const [amount, state] of [
      ["1.00", { status: "requested", refusal: "failed" }],
      ["1.000001", { status: "rejected", refusal: "surplus_gone" }],
    ] as const) {
      const invoice = await book.issue({ amount: "4.00" });
      const paid = await book.paid(invoice, "5.00", "5.00");
      const [older, newer] = [known(paid[0]), known(paid[1])];
      const refund = await book.send(await book.refund(newer, amount));
      // Only 1.00 of the newer one is too much without the older one.
      await book.drop(older);
      await book.refundExaminer(failed(refund)).examine(holding);
      expect(await book.refundNow(refund)).to.include({
        ...state,
        transactionHash: null,
        refusedHash: refund.transactionHash,
        version: refund.version + 1,
      });
      const isRequested = state.status === "requested";
      const type = isRequested ? "refund.reverted" : "refund.rejected";
      expect((await book.eventsOf(refund)).at(-1)).to.equal(type);
      expect(await book.paymentNow(newer)).to.include({
        refundRequested: isRequested ? usdt(amount) : 0n,
        refunded: 0n,
      });
    }
  });

  it("postpones one that fails, and examines the others", async () => {
    const both = await sent(2);
    const [one, other] = [known(both[0]), known(both[1])];
    const good = paid(other);
    const { examine } = book.refundExaminer((hash) =>
      hash === one.transactionHash ? broken(hash) : good(hash),
    );
    await examine(holding);
    const nextAt = book.now() + minute;
    expect(await book.refundNow(one)).to.deep.equal({ ...one, nextAt });
    expect(await book.refundNow(other)).to.include({ status: "confirmed" });
  });

  it("writes nothing about one that has changed meanwhile", async () => {
    for (const answerOf of [paid, failed, () => unknown, () => broken]) {
      const refund = known((await sent(1))[0]);
      const answer = answerOf(refund);
      // The merchant names another transaction while the provider is asked.
      const renamed = newHash();
      const { examine } = book.refundExaminer(async (hash) => {
        await book.send(refund, renamed);
        return answer(hash);
      });
      await examine(holding);
      const { transactionHash, status, attempts, nextAt } = await book.refundNow(refund);
      expect({ transactionHash, status, attempts, nextAt }).to.deep.equal({
        transactionHash: renamed,
        status: "sent",
        attempts: 0,
        nextAt: book.now(),
      });
      await book.reject(refund);
    }
  });

  it("examines a confirmed one again whose block is no longer final, unless another process did", async () => {
    const refund = known((await sent(1))[0]);
    const { examine } = book.refundExaminer(paid(refund, { blockHeight: replaced }));
    await examine(holding);
    const { version } = await book.refundNow(refund);
    const events = await book.eventsOf(refund);
    await book.setFinal(replaced - 1);
    // Another process is quicker, and reopens it.
    beforeNextWrite(db, () => book.refundExaminer(unknown).examine(holding));
    await examine(holding);
    expect(await book.refundNow(refund)).to.include({
      status: "sent",
      confirmedAt: null,
      nextAt: book.now(),
      version: version + 1,
    });
    expect(await book.eventsOf(refund)).to.deep.equal([...events, "refund.reverted"]);
    await book.setFinal(finalHeight);
    await examine(holding);
    expect(await book.refundNow(refund)).to.include({ status: "confirmed" });
  });

  it("writes nothing without its lease, and ends at once", async () => {
    let guards = 0;
    const lost = () => {
      guards += 1;
      return Promise.reject(new LeaseLost("another process looks"));
    };
    const refund = known((await sent(1))[0]);
    const examine = (answer: Answer) =>
      book
        .refundExaminer(answer)
        .examine(lost)
        .catch((error: unknown) => error);
    for (const answer of [paid(refund), failed(refund), unknown, broken]) {
      guards = 0;
      expect(await examine(answer)).to.be.instanceOf(LeaseLost);
      expect(guards).to.equal(1);
      expect(await book.refundNow(refund)).to.deep.equal(refund);
    }
    await book.refundExaminer(paid(refund, { blockHeight: replaced })).examine(holding);
    const confirmed = await book.refundNow(refund);
    await book.setFinal(replaced - 1);
    expect(await examine(unknown)).to.be.instanceOf(LeaseLost);
    expect(await book.refundNow(refund)).to.deep.equal(confirmed);
    await book.setFinal(finalHeight);
  });

  it("ends the alarms of refunds that are sent no more, and no others", async () => {
    const both = await sent(2);
    const [open, ended] = [known(both[0]), known(both[1])];
    await book.reject(ended);
    const alarms = createAlarms({ clock: { now: book.now }, logger: silentLogger });
    for (const subject of [open.id, ended.id, restSubject]) {
      alarms.raise("refund_held", subject, "a refund is held");
    }
    alarms.raise("payment_held", ended.id, "a payment is held");
    await book.refundExaminer(unknown, { alarms }).examine(holding);
    expect(alarms.open().map(({ kind, subject }) => `${kind} ${subject}`)).to.have.members([
      `refund_held ${open.id}`,
      `refund_held ${restSubject}`,
      `payment_held ${ended.id}`,
    ]);
  });
});
