// Random histories of subscriptions on a real store: after every step of merchants, operators, payers, the network and
// the clock, all records are consistent. A failure prints the seed and the shrunk history; `TILL_SEED=… npm run
// prove:billing` repeats it.
import { expect } from "chai";
import fc from "fast-check";
import {
  getSandboxBill,
  reorganizeSandbox,
} from "../../../src/features/payments/sandbox/sandbox.ts";
import { billingChecks } from "../../../src/features/billing/checks.ts";
import {
  adjustments,
  creditApplications,
  credits,
  platformInvoiceLines,
  platformInvoices,
  subscriptions,
} from "../../../src/features/billing/table.ts";
import { day, toIso } from "../../../src/kernel/clock.ts";
import { Problem } from "../../../src/kernel/errors.ts";
import { expectStatus, type Merchant } from "../../support/app.ts";
import { xpubOf } from "../../support/merchants.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import { openEstate, plansFile, type Estate } from "./billing-fleet.ts";

const isWhole = process.env["TILL_PROVE"] === "1";
const seed = process.env["TILL_SEED"];
const runs = isWhole ? 40 : 2;
const stepsMax = isWhole ? 60 : 24;

const plans = {
  trial: { price: "49.00", trialDays: 5, includedInvoices: 2, overagePrice: "0.35" },
  plain: { price: "10.00", includedInvoices: 1, overagePrice: "1.25" },
  yearly: { price: "99.99", interval: "year" },
  free: { price: "0.00", includedInvoices: 3 },
};
const file = plansFile(plans);
const shops = 2;

const plan = fc.constantFrom(...(Object.keys(plans) as (keyof typeof plans)[]));
const shop = fc.nat(shops - 1);
const cents = fc.integer({ min: 1, max: 9_000 });
const step = fc.oneof(
  fc.record({ kind: fc.constant("select" as const), shop, plan }),
  fc.record({ kind: fc.constant("change" as const), shop, plan }),
  fc.record({
    kind: fc.constant("credit" as const),
    shop,
    cents,
    days: fc.option(fc.integer({ min: 1, max: 60 })),
  }),
  fc.record({
    kind: fc.constant("discount" as const),
    shop,
    value: fc.constantFrom("12.5", "50", "100"),
    periods: fc.constantFrom(1, 2, null),
  }),
  fc.record({ kind: fc.constant("fixed" as const), shop, cents, periods: fc.constantFrom(1, 3) }),
  fc.record({ kind: fc.constant("adjust" as const), shop, cents, isGiven: fc.boolean() }),
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("pay" as const),
      shop,
      share: fc.constantFrom(100n, 100n, 40n, 130n),
    }),
  },
  fc.record({ kind: fc.constant("issue" as const), shop, count: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ kind: fc.constant("reorganize" as const), depth: fc.integer({ min: 1, max: 4 }) }),
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("live" as const),
      days: fc.integer({ min: 1, max: 35 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("month" as const), shop }) },
  fc.record({ kind: fc.constant("sleep" as const), days: fc.integer({ min: 1, max: 70 }) }),
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** Two organizations with balances select plans. */
const beginning: readonly Step[] = [
  { kind: "credit", shop: 0, cents: 1_234, days: 20 },
  { kind: "discount", shop: 0, value: "12.5", periods: 1 },
  { kind: "adjust", shop: 0, cents: 500, isGiven: false },
  { kind: "select", shop: 0, plan: "trial" },
  { kind: "credit", shop: 1, cents: 700, days: null },
  { kind: "select", shop: 1, plan: "plain" },
];
/** Plan changes during the trial, which replace its first invoice, before or after it is paid. */
const trialStep: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant("change" as const),
  shop: fc.constant(0),
  plan: fc.constantFrom("plain" as const, "trial" as const),
});

const decimal = (units: number) => (units / 100).toFixed(2);
const sumOf = (amounts: readonly bigint[]) => amounts.reduce((sum, one) => sum + one, 0n);

eachStore("any history of subscriptions", (store) => {
  async function play(first: readonly Step[], steps: readonly Step[]): Promise<void> {
    const estate = await openEstate({
      place: await store.place("migrated"),
      settings: { TILL_PLANS_FILE: file },
    });
    try {
      const merchants: Merchant[] = [];
      for (let made = 0; made < shops; made += 1) merchants.push(await join(estate, made));
      for (const one of [...beginning, ...first]) await act(estate, merchants, one);
      for (const one of steps) {
        await act(estate, merchants, one);
        await expectBooksFit(estate);
      }
    } finally {
      await estate.stop();
    }
  }

  it("keeps lines, totals, credits, discounts, adjustments, numbers and periods consistent", async () => {
    const history = fc.array(step, { minLength: 1, maxLength: stepsMax, size: "max" });
    await fc.assert(fc.asyncProperty(fc.array(trialStep, { maxLength: 3 }), history, play), {
      numRuns: runs,
      // A history takes seconds, so shrinking has a time limit.
      plugins: [fc.interruptAfterTimeLimit(isWhole ? 3_000_000 : 100_000)],
      ...(seed === undefined ? {} : { seed: Number(seed) }),
    });
  });
});

async function join(estate: Estate, place: number): Promise<Merchant> {
  const merchant = await estate.merchant();
  await merchant.addWallet({ xpub: xpubOf(place + 1) });
  return merchant;
}

async function act(estate: Estate, merchants: readonly Merchant[], one: Step): Promise<void> {
  const merchant = merchants["shop" in one ? one.shop : 0];
  if (merchant === undefined) throw new Error("there are fewer shops");
  const give = (noun: string, body: object) =>
    expectStatus(
      estate.app.request("POST", `/v1/admin/organizations/${merchant.organizationId}/${noun}`, {
        key: estate.platformKey,
        body,
      }),
      201,
    );
  const usd = { currency: "USD", reason: "Sorry" };
  switch (one.kind) {
    case "select":
      expectAnswered(await estate.select(merchant, one.plan));
      return;
    case "change":
      return change(estate, merchant, one.plan);
    case "credit": {
      const expiresAt = one.days === null ? null : toIso(estate.clock.now() + one.days * day);
      await give("credits", { ...usd, amount: decimal(one.cents), expiresAt });
      return;
    }
    case "discount":
      await give("discounts", {
        kind: "percent",
        value: one.value,
        periods: one.periods,
        reason: "Welcome",
      });
      return;
    case "fixed": {
      const { periods } = one;
      await give("discounts", { ...usd, kind: "fixed", value: decimal(one.cents), periods });
      return;
    }
    case "adjust": {
      const sign = one.isGiven ? "-" : "";
      const amount = `${sign}${decimal(one.cents)}`;
      await give("adjustments", { amount, currency: "USD", description: "Setup" });
      return;
    }
    case "pay":
      return pay(estate, merchant, one.share);
    case "issue":
      for (let made = 0; made < one.count; made += 1) {
        const asked = { amount: "5", settlementCurrency: "USD", tokenSymbol: "USDT" };
        const body = { ...asked, network: "sandbox" };
        expectAnswered(await merchant.post("/invoices", body));
      }
      return;
    case "reorganize":
      await reorganizeSandbox(estate.app.app, testContext, one.depth, { drop: true }).catch(
        (error: unknown) => {
          // The reorganization would reach final blocks.
          if (!(error instanceof Problem)) throw error;
        },
      );
      await estate.look();
      await estate.mine();
      await estate.run();
      return;
    case "live":
      expect((await estate.live(one.days)).parked).to.equal(0);
      return;
    case "month":
      await pay(estate, merchant, 100n);
      expect((await estate.live(31)).parked).to.equal(0);
      return;
    case "sleep":
      expect((await estate.sleep(one.days)).parked).to.equal(0);
      await estate.mine();
      return;
  }
}

/** Expects any response but a server error. */
function expectAnswered({ status, text }: { status: number; text: string }): void {
  expect(status, text).to.be.below(500);
}

/**
 * Requests a plan change, and expects that it is scheduled for the end of the period and changes neither plan nor
 * status.
 */
async function change(estate: Estate, merchant: Merchant, wanted: string): Promise<void> {
  const path = `${merchant.path}/billing/subscription`;
  const before = (await estate.app.request("GET", path, { key: merchant.key })).body;
  const answer = await estate.change(merchant, wanted);
  expectAnswered(answer);
  if (answer.status !== 200) return;
  const { plan: current, status, currentPeriodEnd } = before;
  const isCurrent = wanted === current;
  expect(answer.body).to.include({
    plan: current,
    status,
    currentPeriodEnd,
    pendingPlan: isCurrent ? null : wanted,
    planChangeEffectiveAt: isCurrent ? null : currentPeriodEnd,
  });
}

/** Pays `share` percent of the remaining amount of the oldest debt. */
async function pay(estate: Estate, merchant: Merchant, share: bigint): Promise<void> {
  const path = `${merchant.path}/billing/subscription`;
  const { body } = await estate.app.request("GET", path, { key: merchant.key });
  const owed = body["openInvoice"] as { id: string } | null | undefined;
  if (owed == null) return;
  const collectionInvoice = (await estate.collectionInvoices(owed.id)).at(-1) as `inv_${string}`;
  const { remaining } = await getSandboxBill(estate.app.app, collectionInvoice);
  if (remaining === 0n) return;
  await estate.send(owed.id, (remaining * share) / 100n, collectionInvoice);
  await estate.mine(4);
  await estate.run();
}

async function expectBooksFit({ db }: Estate): Promise<void> {
  for (const check of billingChecks) {
    expect(await check.run(db), check.name).to.deep.equal([]);
  }
  const invoices = await db.find(platformInvoices, "ORDER BY subscription_id, period_start, id");
  const lines = await db.find(platformInvoiceLines, "");
  const taken = await db.find(creditApplications, "");
  const invoiced = await db.find(adjustments, "WHERE status = 'invoiced'");
  for (const { id, number, total, status, creditTotal } of invoices) {
    const own = lines.filter(({ platformInvoiceId }) => platformInvoiceId === id);
    expect(sumOf(own.map(({ amount }) => amount)), number).to.equal(total);
    expect(total >= 0n, number).to.equal(true);
    const applied = taken.filter(({ platformInvoiceId }) => platformInvoiceId === id);
    // Everything that a void invoice used is reversed, and nothing of other invoices.
    const isVoid = status === "void";
    expect(
      applied.every(({ reversedAt }) => (reversedAt !== null) === isVoid),
      number,
    ).to.equal(true);
    if (creditTotal > 0n) expect(sumOf(applied.map(({ amount }) => amount))).to.equal(creditTotal);
    if (isVoid) {
      expect(invoiced.some(({ platformInvoiceId }) => platformInvoiceId === id)).to.equal(false);
    }
  }
  for (const { id, amount, remaining } of await db.find(credits, "")) {
    const own = taken.filter(({ creditId, reversedAt }) => creditId === id && reversedAt === null);
    expect(remaining + sumOf(own.map((one) => one.amount)), id).to.equal(amount);
  }
  await expectPeriodsFollow({ db }, invoices);
}

/**
 * Expects each period to begin when the previous one ended, unless a suspension, a plan change or a free plan lies
 * between them.
 */
async function expectPeriodsFollow(
  { db }: Pick<Estate, "db">,
  invoices: readonly {
    subscriptionId: string;
    status: string;
    periodStart: number;
    periodEnd: number;
  }[],
): Promise<void> {
  const skipped = await db.all<{ id: string }>(
    `SELECT target_id AS "id" FROM audit_logs WHERE action IN ('subscription.periods_skipped', 'subscription.plan_changed')`,
  );
  const paused = new Set(skipped.map(({ id }) => id));
  const all = await db.find(subscriptions, "");
  for (const { id, terms, currentPeriodEnd } of all) {
    const own = invoices.filter((one) => one.subscriptionId === id && one.status !== "void");
    for (const [place, { periodEnd }] of own.entries()) {
      const next = own[place + 1];
      if (next === undefined) continue;
      if (paused.has(id) || terms.price === "0.00") {
        expect(next.periodStart).to.be.at.least(periodEnd);
      } else {
        expect(next.periodStart, id).to.equal(periodEnd);
      }
    }
    const last = own.at(-1);
    if (last !== undefined)
      expect(last.periodEnd).to.be.at.most(Math.max(last.periodEnd, currentPeriodEnd));
  }
}
