import { expect } from "chai";
import { billingChecks } from "../../../src/features/billing/checks.ts";
import { platformInvoices } from "../../../src/features/billing/table.ts";
import type { Tx } from "../../../src/platform/database/index.ts";
import { expectStatus } from "../../support/app.ts";
import { eachStore, testContext } from "../../support/stores.ts";
import { openEstate, type Estate } from "./estate.ts";

const run = (sql: string) => (tx: Tx) => tx.run(sql);

/** What breaks each check, and nothing else. */
const breakages: readonly (readonly [check: string, breakIt: (tx: Tx) => Promise<unknown>])[] = [
  [
    "billing.invoices",
    (tx) => tx.update(platformInvoices, { total: 1n }, "WHERE total > $1", ["0"]),
  ],
  ["billing.numbers", run("UPDATE billing_state SET next_number = 9")],
  ["billing.collected", run("UPDATE platform_invoices SET status = 'paid'")],
  ["credits.balance", run("UPDATE credits SET remaining = amount")],
  ["discounts.uses", run("UPDATE discounts SET periods_used = 2")],
  ["adjustments.invoiced", run("UPDATE adjustments SET platform_invoice_id = NULL")],
  ["subscriptions.period", run("UPDATE subscriptions SET period_index = 3")],
];

eachStore("the checks of billing", (store) => {
  store.leavesUnsound({ checks: "all", because: "each test breaks the books" });
  let estate: Estate;

  beforeEach(async () => {
    estate = await openEstate({ place: await store.place("migrated") });
    const shop = await estate.merchant();
    const path = `/v1/admin/organizations/${shop.organizationId}`;
    const key = estate.platformKey;
    const give = (what: string, body: object) =>
      expectStatus(estate.app.request("POST", `${path}/${what}`, { key, body }), 201);
    await give("credits", { amount: "10.00", currency: "USD", reason: "Welcome" });
    await give("discounts", { kind: "percent", value: "10", periods: 3, reason: "Launch" });
    await give("adjustments", { amount: "5.00", currency: "USD", description: "Setup" });
    await expectStatus(estate.select(shop, "growth"), 200);
  });
  afterEach(() => estate.stop());

  const broken = async () => {
    const found: string[] = [];
    for (const check of billingChecks) {
      if ((await check.run(estate.db)).length > 0) found.push(check.name);
    }
    return found;
  };

  it("find nothing where only billing has written", async () => {
    expect(await broken()).to.deep.equal([]);
  });

  for (const [check, breakIt] of breakages) {
    it(`name the row that breaks ${check}`, async () => {
      await estate.db.write(testContext, async (tx) => {
        await breakIt(tx);
      });
      expect(await broken()).to.include(check);
    });
  }

  it("are each shown to find something", () => {
    expect(breakages.map(([check]) => check).sort()).to.deep.equal(
      billingChecks.map(({ name }) => name).sort(),
    );
  });
});
