// The statements and rows that an invoice costs, background work included. They decide about the speed of a server, and
// do not depend on the load of the machine. Lower a limit when an invoice costs less.
import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { approvedMerchant, eachServed, expectStatus, type Served } from "../../support/app.ts";
import { countStatements, type StatementCounts } from "../../support/store/statement-counter.ts";
import { until } from "../../support/until.ts";

/**
 * How many writes share a transaction on SQLite, and how often callers on PostgreSQL compete for an amount, depends on
 * the speed of the machine. The statements of a transaction and those of a request outside it do not. Limits are about a
 * tenth above the measured numbers.
 */
const statementsMost = {
  sqlite: { perRequest: 2.4, perTransaction: 13.3, perInvoiceOfBatch: 1.4 },
  postgres: { perRequest: 2, perTransaction: 9.5, perInvoiceOfBatch: 2.6 },
} as const;

/** The maximum number of inserted, updated and deleted rows per invoice in each table. */
const rowsMost: Readonly<Record<string, number>> = {
  invoices: 1,
  holds: 1,
  /** One for each word of the description and each entry of the metadata. */
  invoice_terms: 3,
  /** The entry, and then its position and seal. */
  audit_logs: 2,
  /** The event, and then its position. */
  events: 2,
  /** Inserted, and deleted once it is added up. */
  figure_changes: 2,
  /** The kept response. */
  idempotency_keys: 1,
};
/** The maximum in any other table: an idle server writes some rows too. */
const idleRowsMost = 0.2;

/** So many statements an idle server sends in some seconds, after which it repeats itself. */
const idleStatements = 30;

const callers = 64;
const rounds = 2;
const invoices = callers * rounds;
const batch = invoices / 2;
// Blocks are read once, before the invoices: readings go by the clock.
const settings = { TILL_SANDBOX_POLL_MS: "3600000" };
const priced = { settlementCurrency: "USD", tokenSymbol: "USDT", network: "sandbox" };

eachServed("an invoice", costsLittle, { settings });

function costsLittle(served: Served): void {
  let key: string;
  let path: string;
  let made = 0;

  before(async () => {
    const merchant = await approvedMerchant(served.app);
    ({ key, path } = merchant);
    await merchant.addWallet({ address: `0x${"c".repeat(40)}` });
    await merchant.issue(invoice());
  });

  function invoice() {
    made += 1;
    const amount = `${String(100 + made)}.00`;
    const externalId = `order ${String(made)}`;
    return { ...priced, amount, externalId, description: "An order", metadata: { order: amount } };
  }
  const post = (target: string, body: object) =>
    served.app.request("POST", path + target, {
      key,
      body,
      headers: { "idempotency-key": randomUUID() },
    });

  /** Waits until the background work of all invoices is done; returns the number of statements that this takes. */
  async function settled(): Promise<number> {
    let asked = 0;
    await until(
      "the end of the background work",
      async () => {
        asked += 1;
        const [row] = await served.app.app.db.all<{ waiting: number }>(
          `SELECT (SELECT COUNT(*) FROM events WHERE position IS NULL)
             + (SELECT COUNT(*) FROM audit_logs WHERE position IS NULL)
             + (SELECT COUNT(*) FROM figure_changes) AS "waiting"`,
        );
        return row?.waiting ?? 0;
      },
      (waiting) => waiting === 0,
    );
    return asked;
  }

  async function costOf(create: () => Promise<unknown>): Promise<StatementCounts> {
    await create();
    await settled();
    const counter = countStatements();
    try {
      // How many statements an idle server sends depends on the time that passes.
      let idle = 0;
      await until(
        "a round of the idle server's work",
        () => (idle += counter.take().statements),
        (sent) => sent >= idleStatements,
      );
      counter.leaveOut();
      await create();
      const asked = await settled();
      const counts = counter.take();
      return { ...counts, statements: counts.statements - asked };
    } finally {
      counter.stop();
    }
  }

  function expectFewRows({ byTable }: StatementCounts): void {
    for (const [table, rows] of Object.entries(byTable)) {
      const each = rows / invoices;
      expect(each, `rows of ${table} per invoice`).to.be.at.most(rowsMost[table] ?? idleRowsMost);
    }
  }

  it(`costs a limited number of statements and rows when ${String(callers)} callers create invoices`, async () => {
    const { perRequest, perTransaction } = statementsMost[served.store.dialect];
    let least = Infinity;
    // The work of a full minute adds statements to one of them.
    for (let tries = 0; tries < 3 && least > perTransaction; tries += 1) {
      const counts = await costOf(async () => {
        for (let round = 0; round < rounds; round += 1) {
          await Promise.all(
            Array.from({ length: callers }, () => expectStatus(post("/invoices", invoice()), 201)),
          );
        }
      });
      const inTransactions = counts.statements - perRequest * invoices;
      least = Math.min(least, inTransactions / counts.commits);
      expectFewRows(counts);
    }
    expect(least, "per transaction").to.be.at.most(perTransaction);
  });

  it("costs fewer statements in a batch", async () => {
    const counts = await costOf(async () => {
      for (const size of [batch, invoices - batch]) {
        const body = { invoices: Array.from({ length: size }, invoice) };
        await expectStatus(post("/invoices/batch", body), 200);
      }
    });
    const { perInvoiceOfBatch } = statementsMost[served.store.dialect];
    expect(counts.statements / invoices, "per invoice").to.be.at.most(perInvoiceOfBatch);
    expectFewRows(counts);
  });
}
