import type { Instant } from "../../../kernel/clock.ts";
import type { PlanCatalog } from "../../../platform/config/plans.ts";
import type { Tx } from "../../../platform/database/database.ts";
import type { BillingAnnouncer } from "../announce.ts";
import type { FirstInvoices } from "../invoices/first-invoice.ts";
import type { Issuer } from "../invoices/issuer.ts";
import { pendingTermsOf } from "../plans.ts";
import { noPlanChange, saveSubscription, type LockedSubscription } from "../store.ts";
import type { PlatformInvoiceRow, SubscriptionRow } from "../table.ts";
import type { NextPeriod, PlanChangeOutcome, Transition } from "./rules.ts";

export interface PeriodStepDependencies {
  readonly catalog: PlanCatalog;
  readonly issuer: Issuer;
  readonly announcer: BillingAnnouncer;
  readonly firstInvoices: FirstInvoices;
}

/**
 * Begins the period that the first invoice billed, under the plan that applies to it, and charges the plan difference
 * if that invoice is for another plan.
 */
export async function endTrial(
  deps: PeriodStepDependencies,
  tx: Tx,
  at: Instant,
  locked: LockedSubscription,
  { period, change }: { readonly period: NextPeriod; readonly change: PlanChangeOutcome },
  set: Partial<SubscriptionRow>,
): Promise<LockedSubscription> {
  const subscription = await saveSubscription(tx, at, locked.subscription, {
    ...set,
    ...periodColumns(period),
    ...planColumns(deps.catalog, locked.subscription, change),
  });
  const invoice = await deps.firstInvoices.chargeDifference(tx, at, subscription);
  await announceChange(deps, tx, at, locked.subscription, subscription, change);
  return withInvoice({ ...locked, subscription }, invoice);
}

/** Reactivates a suspended subscription: in its current period, or in a new one that follows the skipped periods. */
export async function resume(
  deps: PeriodStepDependencies,
  tx: Tx,
  at: Instant,
  locked: LockedSubscription,
  next: Extract<Transition, { kind: "resumed" }>,
): Promise<LockedSubscription> {
  const { period, skipped } = next;
  const set = { status: "active", statusReason: null, suspendedAt: null } as const;
  if (period === null) {
    const saved = await saveSubscription(tx, at, locked.subscription, set);
    await deps.announcer.subscription(tx, at, "subscription.reactivated", saved);
    return { ...locked, subscription: saved };
  }
  const begun = await beginPeriod(deps, tx, at, locked, { period, change: next.change }, set);
  if (skipped > 0) {
    deps.announcer.note(tx, at, "subscription.periods_skipped", begun.subscription, { skipped });
  }
  await announceChange(deps, tx, at, locked.subscription, begun.subscription, next.change);
  await deps.announcer.subscription(tx, at, "subscription.reactivated", begun.subscription);
  return withInvoice({ ...locked, subscription: begun.subscription }, begun.invoice);
}

/** Begins the period that follows the elapsed one. */
export async function renew(
  deps: PeriodStepDependencies,
  tx: Tx,
  at: Instant,
  locked: LockedSubscription,
  next: Extract<Transition, { kind: "renewed" }>,
): Promise<LockedSubscription> {
  const { subscription, invoice } = await beginPeriod(deps, tx, at, locked, next, {});
  const isAnnounced = await announceChange(
    deps,
    tx,
    at,
    locked.subscription,
    subscription,
    next.change,
  );
  if (!isAnnounced) {
    const changes = { invoice: invoice?.number ?? null };
    deps.announcer.note(tx, at, "subscription.renewed", subscription, changes);
  }
  return withInvoice({ ...locked, subscription }, invoice);
}

/** Begins the next served period, under the plan that applies to it, and issues its invoice. */
async function beginPeriod(
  deps: PeriodStepDependencies,
  tx: Tx,
  at: Instant,
  locked: LockedSubscription,
  { period, change }: { readonly period: NextPeriod; readonly change: PlanChangeOutcome },
  set: Partial<SubscriptionRow>,
): Promise<{ subscription: SubscriptionRow; invoice: PlatformInvoiceRow | null }> {
  const subscription = await saveSubscription(tx, at, locked.subscription, {
    ...set,
    ...periodColumns(period),
    ...planColumns(deps.catalog, locked.subscription, change),
  });
  const { terms } = subscription;
  const elapsed = elapsedOf(locked.subscription);
  const order = { subscription, period, terms, elapsed, dueAt: null };
  const invoice = await deps.issuer.issue(tx, at, order);
  // The usage watch may not have seen the last invoices of a period before the next period began.
  const used = invoice?.usageCount ?? null;
  if (used !== null) deps.announcer.usage(tx, at, locked.subscription, used);
  return { subscription, invoice };
}

function planColumns(
  catalog: PlanCatalog,
  subscription: SubscriptionRow,
  change: PlanChangeOutcome,
): Partial<SubscriptionRow> {
  const terms = change === "applied" ? pendingTermsOf(catalog, subscription) : null;
  return {
    ...(change === "none" ? {} : noPlanChange),
    ...(terms === null ? {} : { terms }),
  };
}

/** Emits the event for the outcome of a plan change; returns whether one was scheduled. */
async function announceChange(
  { announcer }: PeriodStepDependencies,
  tx: Tx,
  at: Instant,
  before: SubscriptionRow,
  after: SubscriptionRow,
  change: PlanChangeOutcome,
): Promise<boolean> {
  if (change === "applied") {
    const changes = { plan: { from: before.terms.id, to: after.terms.id } };
    await announcer.subscription(tx, at, "subscription.plan_changed", after, changes);
  } else if (change === "dropped") {
    const changes = { pendingPlan: { from: before.pendingPlan, to: null } };
    await announcer.subscription(tx, at, "subscription.plan_change_dropped", after, changes);
  }
  return change !== "none";
}

function periodColumns(period: {
  readonly anchorAt: Instant;
  readonly index: number;
  readonly start: Instant;
  readonly end: Instant;
}) {
  return {
    anchorAt: period.anchorAt,
    periodIndex: period.index,
    currentPeriodStart: period.start,
    currentPeriodEnd: period.end,
    usageNotice: 0,
  };
}

/** Returns the current period as the elapsed one; null for a trial, whose usage is not billed. */
function elapsedOf(subscription: SubscriptionRow) {
  if (subscription.periodIndex < 0) return null;
  const { terms, currentPeriodStart: start, currentPeriodEnd: end } = subscription;
  return { terms, start, end };
}

function withInvoice(
  locked: LockedSubscription,
  invoice: PlatformInvoiceRow | null,
): LockedSubscription {
  if (invoice === null || invoice.status !== "open") return locked;
  return { ...locked, invoices: [...locked.invoices, invoice] };
}
