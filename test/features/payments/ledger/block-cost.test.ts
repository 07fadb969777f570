// The statements and rows that a block with many payments costs. The rows of a block decide its CPU time.
import { expect } from "chai";
import { countStatements, type StatementCounts } from "../../../support/store/statement-counter.ts";
import { eachStore } from "../../../support/store/stores.ts";
import { openTown } from "../../../lab/lists/town.ts";

/** More than one transaction confirms. */
const paying = 600;
/** The maximum of statements that write a payment or read what it changes; the others are the same for every block. */
const statementsMost = { sqlite: 0.13, postgres: 0.03 } as const;
const statementsOfBlock = 60;
/** The maximum number of rows in any table that does not grow with the payments. */
const otherRowsMost = 12;

eachStore("a block with many payments", (store) => {
  async function costOf(work: () => Promise<unknown>): Promise<StatementCounts> {
    const counter = countStatements();
    try {
      await work();
      return counter.take();
    } finally {
      counter.stop();
    }
  }

  function expectRows(
    { statements, byTable }: StatementCounts,
    rowsOf: Readonly<Record<string, number>>,
  ): void {
    const most = statementsOfBlock + paying * statementsMost[store.dialect];
    expect(statements, "statements").to.be.at.most(most);
    const perPayment = new Map(
      Object.entries(byTable)
        .filter(([, rows]) => rows > otherRowsMost)
        .map(([table, rows]) => [table, rows / paying]),
    );
    expect(Object.fromEntries(perPayment)).to.deep.equal(rowsOf);
  }

  it("writes one row per record of each payment, and its figures once", async () => {
    const town = await openTown(await store.open(), paying);
    expectRows(await costOf(() => town.mine({ transfers: 2 * paying, paying })), {
      transfers: 1,
      payments: 1,
      invoices: 1,
      // One for the payment and one for its invoice.
      audit_logs: 2,
      events: 2,
    });
    expectRows(await costOf(() => town.confirm()), {
      payments: 1,
      invoices: 1,
      audit_logs: 2,
      events: 2,
    });
  });
});
