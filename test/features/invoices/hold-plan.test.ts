import { expect } from "chai";
import { holdAmount } from "../../../src/features/invoices/holds/holds.ts";
import { encodeAmount, type SqlValue } from "../../../src/platform/database/index.ts";
import { systemRandom } from "../../../src/platform/secrets/random.ts";
import { openShop } from "../../support/invoice-services-fixture.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";

eachStore("Taking a hold", (store) => {
  // SQLite takes the order of joins from the statement, and leaves an explained statement open.
  if (store.dialect === "sqlite") return;

  it("never reads every hold, even if the database's statistics say that the table is small", async () => {
    const db = await store.open();
    const shop = await openShop(db, "tron");
    const request = {
      invoiceId: shop.ids.next("invoice", shop.now()),
      ...{ organizationId: shop.organizationId, network: "tron", address: "1".repeat(40) },
      ...{ token: "USDT", tokenDecimals: 6, leastOf: (amount: bigint) => amount },
      ...{ startsAt: shop.now(), endsAt: shop.now() + 1 },
    };
    // As in a new store. The planner would remember the size of a table that had rows before.
    await db.write(testContext, (tx) => tx.run("TRUNCATE holds"));
    const plans = await db.write(testContext, async (tx) => {
      const asked: { sql: string; values: readonly SqlValue[] }[] = [];
      const listening = {
        ...tx,
        all: <R>(sql: string, values: readonly SqlValue[] = []) => {
          asked.push({ sql, values });
          return Promise.resolve([{ amount: encodeAmount(1n) }] as R[]);
        },
      };
      await holdAmount(listening, { ids: shop.ids, randomBytes: systemRandom }, request, 10n ** 8n);
      const told: string[] = [];
      for (const { sql, values } of asked) {
        told.push(JSON.stringify(await tx.all(`EXPLAIN ${sql}`, values)));
      }
      return told;
    });
    // Two statements: the check of the bare price, and the hold itself.
    expect(plans).to.have.length(2);
    expect(plans[1]).to.include("SubPlan");
    for (const plan of plans) expect(plan).not.to.match(/Seq Scan on holds|Join/);
  });
});
