import type { App } from "../../app.ts";
import type { Id } from "../../kernel/id.ts";
import { money, zero, type Money } from "../../kernel/money/money.ts";
import { planInUse, type PlanInUse } from "../billing/subscriptions/views.ts";
import { countUsed } from "../invoices/store.ts";
import { queryOf, sumBySubject, volumeOf } from "./figures.ts";
import { defaultCurrency, monthAt, type Period } from "./query.ts";

export interface Usage {
  readonly organizationId: Id<"organization">;
  /** Null without a subscription. */
  readonly plan: PlanInUse | null;
  readonly period: Period;
  /** Amount due for invoices beyond those included. */
  readonly overage: Money;
  readonly invoicesCreated: number;
  /** The number of invoices that count against the plan. */
  readonly invoicesCounted: number;
  readonly paymentsConfirmed: number;
  /** Volume in the currency of its asset. */
  readonly processedVolume: Money;
}

/**
 * Returns an organization's usage in the current period: its subscription's or, without one, the calendar month in UTC.
 */
export async function getUsage(app: App, organizationId: Id<"organization">): Promise<Usage> {
  const plan = await planInUse(app.db, organizationId);
  const period = plan?.period ?? monthAt(app.clock.now());
  const currency = plan?.overagePrice.asset.code ?? defaultCurrency;
  const counted = await countInPeriod(app, organizationId, period, currency);
  const { asset } = counted.processedVolume;
  const overage = plan === null ? zero(asset) : overageOf(plan, counted.invoicesCounted);
  return { organizationId, plan, period, overage, ...counted };
}

function overageOf({ invoicesIncluded, overagePrice }: PlanInUse, counted: number): Money {
  if (invoicesIncluded === null) return zero(overagePrice.asset);
  const beyond = BigInt(Math.max(0, counted - invoicesIncluded));
  return money(beyond * overagePrice.units, overagePrice.asset);
}

/** Counts a period's issued invoices and confirmed payments, and the volume in one currency. */
async function countInPeriod(
  app: App,
  organizationId: Id<"organization">,
  period: Period,
  code: string,
): Promise<Omit<Usage, "organizationId" | "plan" | "period" | "overage">> {
  const { db, clock } = app;
  const now = clock.now();
  const all = { scope: organizationId, period, currency: null };
  const { currency } = queryOf(app, { currency: code });
  const [invoices, counted, payments, processed] = await Promise.all([
    sumBySubject(db, { ...all, measure: "invoices" }, now),
    countUsed(db, organizationId, period.from, period.to),
    sumBySubject(db, { ...all, measure: "volume" }, now),
    volumeOf(app, organizationId, { period, currency }),
  ]);
  return {
    invoicesCreated: invoices.reduce((count, { items }) => count + items, 0),
    invoicesCounted: counted,
    paymentsConfirmed: payments.reduce((count, { items }) => count + items, 0),
    processedVolume: processed.volume,
  };
}
