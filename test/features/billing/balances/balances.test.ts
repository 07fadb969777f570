import { expect } from "chai";
import fc from "fast-check";
import { computeCharges, type Charges } from "../../../../src/features/billing/charges.ts";
import {
  addEntry,
  consumeBalances,
  lockBalances,
  restoreBalances,
  takeBackCredits,
} from "../../../../src/features/billing/balances/balances.ts";
import { adjustment, credit, discount } from "../../../../src/features/billing/balances/entries.ts";
import {
  adjustments,
  creditApplications,
  credits,
  discounts,
  discountUses,
  platformInvoices,
  subscriptions,
  type PlatformInvoiceRow,
  type SubscriptionRow,
} from "../../../../src/features/billing/table.ts";
import { auditLogs } from "../../../../src/platform/audit/chain.ts";
import { day, type Instant } from "../../../../src/kernel/clock.ts";
import { createIds, type Id } from "../../../../src/kernel/id.ts";
import type { Database, Tx } from "../../../../src/platform/database/database.ts";
import { systemRandom } from "../../../../src/platform/secrets/tokens.ts";
import type { App } from "../../../../src/app.ts";
import { appOf } from "../../../support/context.ts";
import { addOrganization } from "../../../support/merchants.ts";
import { eachStore, testContext } from "../../../support/store/stores.ts";
import { platformInvoice, subscription } from "./balance-fixture.ts";

const start = 1_800_000_000_000;

eachStore("the balances of billing", (store) => {
  store.leavesUnsound({
    checks: ["billing.invoices", "billing.taken", "billing.numbers", "subscriptions.period"],
    because: "platform invoices and their subscriptions are inserted directly",
  });
  const ids = createIds(systemRandom);
  let db: Database;
  let app: App;
  let organizationId: Id<"organization">;
  let of: SubscriptionRow;

  before(async () => {
    db = await store.open();
    app = appOf({ db, ids });
  });
  beforeEach(async () => {
    organizationId = await addOrganization(db, ids, start);
    of = subscription(organizationId);
    await db.write(testContext, (tx) => tx.insert(subscriptions, of));
  });

  const write = <T>(fn: (tx: Tx) => Promise<T>) => db.write(testContext, fn);
  const usd = { currency: "USD", decimals: 2, createdBy: "system" };
  const grant = (amount: bigint, expiresAt: Instant | null = null, currency = "USD") =>
    write((tx) =>
      addEntry(tx, app, start, credit, {
        ...usd,
        organizationId,
        amount,
        expiresAt,
        currency,
        reason: "Sorry",
        sourceInvoiceId: null,
      }),
    );
  const grantPercent = (value: string, periods: number | null) =>
    write((tx) =>
      addEntry(tx, app, start, discount, {
        organizationId,
        kind: "percent",
        value,
        currency: null,
        decimals: null,
        periods,
        reason: "Welcome",
        createdBy: "system",
      }),
    );
  const adjust = (amount: bigint, currency = "USD") =>
    write((tx) =>
      addEntry(tx, app, start, adjustment, {
        ...usd,
        organizationId,
        amount,
        currency,
        description: "Onboarding",
      }),
    );

  /** Issues an invoice as the billing run does: opens, computes and consumes in one transaction. */
  async function issue(
    at: Instant,
    price: bigint,
  ): Promise<{ readonly invoice: PlatformInvoiceRow; readonly charges: Charges }> {
    const period = { periodStart: at, periodEnd: at + 1, issuedAt: at };
    return write(async (tx) => {
      const charges = computeCharges({
        currency: "USD",
        decimals: 2,
        at,
        plan: { name: "Growth", price },
        usage: null,
        ...(await lockBalances(tx, organizationId, "USD")),
        minCollectable: 100n,
      });
      const { subtotal, discountTotal, creditTotal, total } = charges;
      const totals = { subtotal, discountTotal, creditTotal, total };
      const invoice = platformInvoice(of, { ...period, ...totals });
      await tx.insert(platformInvoices, invoice);
      await consumeBalances(tx, app, at, invoice, charges);
      return { invoice, charges };
    });
  }

  const voided = (invoice: PlatformInvoiceRow, at: Instant) =>
    write((tx) => restoreBalances(tx, app, at, invoice, { newCredit: 0n, carried: 0n }));

  const own = <T extends typeof credits | typeof discounts | typeof adjustments>(table: T) =>
    db.find(table, "WHERE organization_id = $1 ORDER BY id", [organizationId]);

  /** Expects that each credit's remaining and used amounts add up, and each discount's uses. */
  async function expectConserved(): Promise<void> {
    const taken = await db.find(creditApplications, "WHERE reversed_at IS NULL");
    for (const { id, remaining, amount: given } of await own(credits)) {
      const used = taken
        .filter(({ creditId }) => creditId === id)
        .reduce((sum, { amount }) => sum + amount, 0n);
      expect(remaining + used).to.equal(given);
    }
    const uses = await db.find(discountUses, "WHERE reversed_at IS NULL");
    for (const { id, periodsUsed } of await own(discounts)) {
      const count = uses.filter(({ discountId }) => discountId === id).length;
      expect(periodsUsed).to.equal(count);
    }
  }

  it("applies credits, discounts and adjustments to an invoice and stores what it used", async () => {
    const late = await grant(3_000n);
    const soon = await grant(2_500n, start + 30 * day);
    await grant(900n, null, "EUR");
    const welcome = await grantPercent("15", 3);
    const charge = await adjust(1_500n);
    await adjust(700n, "EUR");
    const { invoice, charges } = await issue(start + day, 4_900n);
    expect(charges).to.include({ subtotal: 6_400n, discountTotal: 735n, creditTotal: 5_500n });
    expect(charges.total).to.equal(165n);
    const left = (await own(credits)).map(({ remaining, version }) => [remaining, version]);
    expect(left).to.deep.equal([
      [0n, 2],
      [0n, 2],
      [900n, 1],
    ]);
    const applied = await db.find(
      creditApplications,
      "WHERE platform_invoice_id = $1 ORDER BY amount",
      [invoice.id],
    );
    expect(applied.map(({ creditId, amount }) => [creditId, amount])).to.deep.equal([
      [soon.id, 2_500n],
      [late.id, 3_000n],
    ]);
    const [used] = await db.find(discountUses, "WHERE platform_invoice_id = $1", [invoice.id]);
    expect(used).to.include({ discountId: welcome.id, amount: 735n, reversedAt: null });
    const [invoiced, waiting] = await own(adjustments);
    expect(invoiced).to.include({ id: charge.id, status: "invoiced" });
    expect(invoiced?.platformInvoiceId).to.equal(invoice.id);
    expect(waiting?.status).to.equal("pending");
    await expectConserved();
  });

  it("restores the same rows once when the invoice is voided", async () => {
    await grant(3_000n);
    await grantPercent("10", 1);
    await adjust(500n);
    const before = [await own(discounts), await own(adjustments)];
    const { invoice } = await issue(start + day, 4_900n);
    await voided(invoice, start + 2 * day);
    await voided(invoice, start + 3 * day);
    const [only] = await own(credits);
    expect(only).to.include({ remaining: 3_000n, expiresAt: null });
    expect([await own(discounts), await own(adjustments)]).to.deep.equal(before);
    const marks = await db.find(creditApplications, "WHERE platform_invoice_id = $1", [invoice.id]);
    expect(marks.map(({ reversedAt }) => reversedAt)).to.deep.equal([start + 2 * day]);
    await expectConserved();
    const again = await issue(start + 4 * day, 4_900n);
    expect(again.charges).to.include({ discountTotal: 490n, creditTotal: 3_000n });
  });

  it("extends only a credit that expired while a voided invoice held it", async () => {
    await grant(1_000n, start + 5 * day);
    await grant(1_000n, start + 12 * day);
    await grant(1_000n, start + 12 * day + 1);
    const { invoice } = await issue(start + 2 * day, 4_900n);
    await voided(invoice, start + 12 * day);
    const expiries = (await own(credits)).map(({ expiresAt }) => expiresAt);
    expect(expiries).to.deep.equal([start + 15 * day, start + 22 * day, start + 12 * day + 1]);
  });

  it("applies a fixed discount in its currency alone", async () => {
    const fixed = { kind: "fixed" as const, value: "10.00", decimals: 2, periods: null };
    for (const currency of ["EUR", "USD"]) {
      const terms = { ...fixed, currency, reason: "Partner", createdBy: "system" };
      await write((tx) => addEntry(tx, app, start, discount, { ...terms, organizationId }));
    }
    const { charges } = await issue(start + day, 4_900n);
    expect(charges).to.include({ discountTotal: 1_000n, total: 3_900n });
    expect((await own(discounts)).map(({ periodsUsed }) => periodsUsed)).to.deep.equal([0, 1]);
  });

  it("turns a negative sum into a credit, which the next invoice uses", async () => {
    await adjust(-2_500n);
    await grantPercent("20", 1);
    const { invoice, charges } = await issue(start + day, 1_000n);
    expect(charges.total).to.equal(0n);
    const [only] = await own(credits);
    expect(only).to.include({
      amount: 1_500n,
      remaining: 1_500n,
      createdBy: "system",
      sourceInvoiceId: invoice.id,
    });
    expect((await own(discounts))[0]?.periodsUsed).to.equal(0);
    const next = await issue(start + 2 * day, 1_000n);
    expect(next.charges).to.include({ discountTotal: 200n, creditTotal: 800n, total: 0n });
  });

  it("carries a total that is too small to collect forward to the next invoice", async () => {
    await grant(4_850n);
    const { invoice, charges } = await issue(start + day, 4_900n);
    expect(charges).to.include({ total: 50n, isCollected: false });
    const [carried] = await own(adjustments);
    expect(carried).to.include({ amount: 50n, status: "pending", createdBy: "system" });
    expect(carried?.description).to.equal(`Carried forward from ${invoice.number}`);
    expect((await issue(start + 2 * day, 4_900n)).charges.total).to.equal(4_950n);
  });

  it("takes back the credit of a removed payment and charges the part that was spent", async () => {
    const { invoice } = await issue(start + day, 4_900n);
    await write((tx) =>
      addEntry(tx, app, start, credit, {
        ...usd,
        organizationId,
        amount: 800n,
        reason: "Overpaid",
        expiresAt: null,
        sourceInvoiceId: invoice.id,
      }),
    );
    await write((tx) => takeBackCredits(tx, app, start, invoice, 300n));
    expect((await own(credits))[0]).to.include({ amount: 500n, remaining: 500n });
    expect(await own(adjustments)).to.deep.equal([]);
    await issue(start + 2 * day, 400n);
    await write((tx) => takeBackCredits(tx, app, start, invoice, 500n));
    expect((await own(credits))[0]).to.include({ amount: 400n, remaining: 0n });
    expect((await own(adjustments))[0]).to.include({ amount: 400n, status: "pending" });
    const reduced = await db.find(
      auditLogs,
      "WHERE organization_id = $1 AND action = 'credit.reduced' ORDER BY id",
      [organizationId],
    );
    expect(reduced.map(({ changes }) => changes)).to.deep.equal([
      { amount: { from: "8.00", to: "5.00" }, invoice: invoice.number },
      { amount: { from: "5.00", to: "4.00" }, invoice: invoice.number },
    ]);
    await expectConserved();
  });

  it("uses no credit, discount or adjustment twice when invoices are issued concurrently", async () => {
    await grant(3_000n);
    await grantPercent("50", 1);
    await adjust(500n);
    const issued = await Promise.all(
      Array.from({ length: 64 }, (_, n) => issue(start + n * day, 1_000n)),
    );
    const sum = (of: (charges: Charges) => bigint) =>
      issued.reduce((all, { charges }) => all + of(charges), 0n);
    expect(sum(({ discountTotal }) => discountTotal)).to.equal(500n);
    expect(sum(({ subtotal }) => subtotal)).to.equal(64_500n);
    expect(sum(({ creditTotal }) => creditTotal)).to.equal(3_000n);
    await expectConserved();
  });

  it("conserves all balances over any history of grants, invoices and voids", async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("grant" as const), amount: fc.bigInt(1n, 9_000n) }),
      fc.record({ kind: fc.constant("adjust" as const), amount: fc.bigInt(-9_000n, 9_000n) }),
      fc.record({ kind: fc.constant("discount" as const), periods: fc.constantFrom(1, 2, null) }),
      fc.record({ kind: fc.constant("issue" as const), price: fc.bigInt(0n, 9_000n) }),
      fc.record({ kind: fc.constant("issue" as const), price: fc.bigInt(0n, 9_000n) }),
      fc.record({ kind: fc.constant("void" as const), which: fc.nat(20) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
        organizationId = await addOrganization(db, ids, start);
        of = subscription(organizationId);
        await write((tx) => tx.insert(subscriptions, of));
        const unpaid: PlatformInvoiceRow[] = [];
        for (const [place, one] of steps.entries()) {
          const at = start + (place + 1) * day;
          if (one.kind === "grant") await grant(one.amount, place % 2 === 0 ? at + day : null);
          else if (one.kind === "adjust") await adjust(one.amount === 0n ? 1n : one.amount);
          else if (one.kind === "discount") await grantPercent("25", one.periods);
          else if (one.kind === "issue") {
            const { invoice, charges } = await issue(at, one.price);
            expect(charges.total >= 0n).to.equal(true);
            if (charges.isCollected) unpaid.push(invoice);
          } else {
            const [invoice] = unpaid.splice(one.which % Math.max(1, unpaid.length), 1);
            if (invoice !== undefined) await voided(invoice, at);
          }
          await expectConserved();
        }
      }),
      { numRuns: 8 },
    );
  });
});
