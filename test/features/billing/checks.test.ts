import { expect } from "chai";
import { billingChecks } from "../../../src/features/billing/checks.ts";
import {
  adjustments,
  creditApplications,
  credits,
  discountUses,
  platformInvoices,
  subscriptions,
} from "../../../src/features/billing/table.ts";
import { hour } from "../../../src/kernel/clock.ts";
import type { Reader, Tx } from "../../../src/platform/database/database.ts";
import { expectStatus } from "../../support/app.ts";
import { xpubOf } from "../../support/merchants.ts";
import { eachStore, whileBroken } from "../../support/store/stores.ts";
import { openEstate, type Estate } from "./billing-fleet.ts";

const run = (sql: string) => (tx: Tx) => tx.run(sql);

/** Changes that break each check. */
const breakages: readonly (readonly [check: string, breakIt: (tx: Tx) => Promise<unknown>])[] = [
  [
    "billing.invoices",
    (tx) => tx.update(platformInvoices, { total: 1n }, "WHERE total > $1", ["0"]),
  ],
  ["billing.taken", (tx) => tx.update(discountUses, { amount: 489n }, "WHERE 1 = 1")],
  ["billing.taken", (tx) => tx.update(adjustments, { amount: 501n }, "WHERE 1 = 1")],
  ["billing.taken", run("UPDATE platform_invoices SET usage_count = 1")],
  [
    "billing.taken",
    async (tx) => {
      await tx.update(creditApplications, { amount: 999n }, "WHERE 1 = 1");
      await tx.update(credits, { remaining: 1n }, "WHERE 1 = 1");
    },
  ],
  ["billing.numbers", run("UPDATE platform_invoices SET number = 'TILL-000002'")],
  ["billing.numbers", run("UPDATE billing_state SET next_number = 9")],
  ["billing.collected", run("UPDATE platform_invoices SET status = 'paid'")],
  ["credits.balance", run("UPDATE credits SET remaining = amount")],
  ["discounts.uses", run("UPDATE discounts SET periods_used = 2")],
  ["adjustments.invoiced", run("UPDATE adjustments SET platform_invoice_id = NULL")],
  [
    "subscriptions.issued",
    async (tx) => {
      const row = await tx.findOne(subscriptions, "");
      if (row === null) throw new Error("there is no subscription");
      const { currentPeriodStart: issuedFrom, terms } = row;
      const limited = { ...terms, overagePrice: null };
      await tx.update(
        subscriptions,
        { terms: limited, issuedFrom, issuedCount: 1 },
        "WHERE id = $1",
        [row.id],
      );
    },
  ],
  ["subscriptions.period", run("UPDATE subscriptions SET period_index = 3")],
  ["subscriptions.plan_change", run("UPDATE subscriptions SET plan_change_effective_at = 1")],
];

eachStore("the checks of billing", (store) => {
  let estate: Estate;

  before(async () => {
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
  after(() => estate.stop());

  const broken = async (reader: Reader) => {
    const found: string[] = [];
    for (const check of billingChecks) {
      if ((await check.run(reader)).length > 0) found.push(check.name);
    }
    return found;
  };

  it("find no violations in data that billing wrote", async () => {
    expect(await broken(estate.db)).to.deep.equal([]);
  });

  for (const [place, [check, breakIt]] of breakages.entries()) {
    it(`report a violation of ${check} (case ${String(place + 1)})`, async () => {
      expect(await whileBroken(estate.db, breakIt, broken)).to.include(check);
    });
  }

  it("find no gap where invoice numbers become longer", async () => {
    const [row] = await estate.db.find(platformInvoices, "");
    if (row === undefined) throw new Error("there is no platform invoice");
    const numbers = billingChecks.find(({ name }) => name === "billing.numbers");
    const found = await whileBroken(
      estate.db,
      async (tx) => {
        await tx.update(platformInvoices, { number: "TILL-999999" }, "WHERE id = $1", [row.id]);
        const next = {
          id: `${row.id}x` as const,
          number: "TILL-1000000",
          periodStart: row.periodEnd,
        };
        await tx.insert(platformInvoices, { ...row, ...next });
        await tx.run("UPDATE billing_state SET next_number = 1000001");
      },
      (reader) => numbers?.run(reader) ?? Promise.resolve([]),
    );
    // Only the numbers missing before the first one are reported.
    expect(found).to.deep.equal([
      { row: row.id, fault: "Its number is TILL-999999; expected TILL-000001." },
    ]);
  });

  it("are each broken by at least one case", () => {
    expect([...new Set(breakages.map(([check]) => check))].sort()).to.deep.equal(
      billingChecks.map(({ name }) => name).sort(),
    );
  });

  it("expect no count of a period that began with a counted invoice, and whose plan has no limit", async () => {
    const shop = await estate.merchant();
    const issue = (amount: string) => shop.issue({ amount, settlementCurrency: "USDT" });
    await shop.addWallet({ xpub: xpubOf(1) });
    await expectStatus(estate.select(shop, "starter"), 200);
    await expectStatus(estate.change(shop, "growth"), 200);
    const { currentPeriodEnd } = await estate.subscription(shop);
    estate.clock.advance(Date.parse(currentPeriodEnd) + hour - estate.clock.now());
    // The period has ended, and the new plan begins with the next run.
    await issue("20.00");
    await estate.live(0);
    expect(await estate.subscription(shop)).to.include({ plan: "growth" });
    await issue("30.00");
    expect(await broken(estate.db)).to.deep.equal([]);
  });
});
