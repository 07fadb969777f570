import type { InTx } from "../../../app.ts";
import { minute, type Instant } from "../../../kernel/clock.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { announcePlatformInvoice, announceSubscription, noteSubscription } from "../announce.ts";
import {
  alignFirstInvoice,
  chargePlanDifference,
  collectionColumns,
  isPayable,
  issuePlatformInvoice,
  prepareCollectionInvoice,
  rememberCollectionInvoice,
  staleFirstInvoice,
} from "../invoices/issue.ts";
import { pendingTermsOf, policyOf } from "../plans.ts";
import {
  noPlanChange,
  paymentsInFlight,
  receivedAt,
  savePlatformInvoice,
  saveSubscription,
  type LockedSubscription,
} from "../store.ts";
import type { PlatformInvoiceRow, SubscriptionRow } from "../table.ts";
import { announceUsage } from "../subscriptions/usage-watch.ts";
import { endSubscription } from "./cancel.ts";
import {
  nextActionAt,
  nextTransition,
  type LifecycleState,
  type NextPeriod,
  type PlanChangeOutcome,
  type Transition,
} from "./rules.ts";

// Determines and performs the due steps of subscriptions, on a locked subscription and in the caller's transaction.

/**
 * The time between the end of a period and the counting of its usage: an invoice that is issued in the last moment of
 * the period may be committed later. No write takes longer than half of this time.
 */
const countingPatience = 1 * minute;

/** Performs the earliest due step of a subscription; returns whether more are due. */
export async function performDueStep(
  tx: Tx,
  app: InTx,
  at: Instant,
  locked: LockedSubscription,
): Promise<boolean> {
  const next = dueStep(app, locked, at);
  const performed = next === null ? null : await performStep(tx, app, at, locked, next);
  const replaced = performed === null ? await replaceCollectionInvoices(tx, app, at, locked) : null;
  // A new collection invoice is not among the locked ones: another step reads it.
  const isMore =
    replaced !== null ||
    (performed !== null &&
      (dueStep(app, performed, at) !== null || needsCollectionInvoice(performed, at)));
  const after = replaced ?? performed ?? locked;
  const checkAt = isMore ? at : nextCheckAt(app, after, at);
  if (after.subscription.nextActionAt !== checkAt) {
    await saveSubscription(tx, at, after.subscription, { nextActionAt: checkAt });
  }
  return isMore;
}

/** After a payment, performs the due step if it reactivates the subscription without issuing an invoice. */
export async function followPayment(
  tx: Tx,
  app: InTx,
  at: Instant,
  locked: LockedSubscription,
): Promise<void> {
  const next = dueStep(app, locked, at);
  const isFree = next?.kind === "resumed" && next.period === null;
  const { subscription } =
    next !== null && (isFree || next.kind === "reactivated")
      ? await performStep(tx, app, at, locked, next)
      : locked;
  // The billing run does everything else; the caller wakes it.
  await saveSubscription(tx, at, subscription, { nextActionAt: at });
}

/** Returns the earliest due step; null: none is due. */
function dueStep(app: InTx, locked: LockedSubscription, at: Instant): Transition | null {
  const next = nextTransition(stateOf(app, locked, at));
  return next === null || isCounting(next, at) ? null : next;
}

/** Returns when the billing run must process the subscription next, as far as is known now. */
function nextCheckAt(app: InTx, locked: LockedSubscription, at: Instant): Instant | null {
  const state = stateOf(app, locked, at);
  const next = nextTransition(state);
  const counting = next !== null && isCounting(next, at);
  const times = [
    counting ? next.at + countingPatience : nextActionAt(state),
    ...locked.invoices.map((invoice) => collectionEndsAt(invoice, locked, at)),
  ].filter((time) => time !== null);
  return times.length === 0 ? null : Math.min(...times);
}

function stateOf({ config }: InTx, locked: LockedSubscription, now: Instant): LifecycleState {
  const { plans: catalog } = config;
  const { subscription, invoices } = locked;
  const { terms } = subscription;
  const pendingTerms = pendingTermsOf(catalog, subscription);
  return {
    subscription,
    invoices,
    now,
    pendingTerms,
    inFlight: paymentsInFlight(locked),
    policy: policyOf(catalog, terms.id),
    isFirstInvoiceStale: staleFirstInvoice(locked, pendingTerms ?? terms) !== null,
  };
}

function isCounting(next: Transition, at: Instant): boolean {
  return next.kind === "renewed" && at < next.at + countingPatience;
}

/** Performs a due step and returns the updated subscription. Its `nextActionAt` is not updated yet. */
async function performStep(
  tx: Tx,
  app: InTx,
  at: Instant,
  locked: LockedSubscription,
  next: Transition,
): Promise<LockedSubscription> {
  const { subscription } = locked;
  const save = async (set: Partial<SubscriptionRow>) => ({
    ...locked,
    subscription: await saveSubscription(tx, at, subscription, set),
  });
  const announced = async (
    type: Parameters<typeof announceSubscription>[3],
    after: LockedSubscription,
  ) => {
    await announceSubscription(tx, app, at, type, after.subscription);
    return after;
  };
  switch (next.kind) {
    case "trial_ending":
      return announced("subscription.trial_ending", await save({ trialNoticeAt: at }));
    case "first_invoice_replaced": {
      const terms = pendingTermsOf(app.config.plans, subscription) ?? subscription.terms;
      const aligned = await alignFirstInvoice(tx, app, at, locked, terms);
      return { ...aligned, subscription: (await save({})).subscription };
    }
    case "activated": {
      const after = await endTrial(tx, app, at, locked, next, { status: "active" });
      return announced("subscription.activated", after);
    }
    case "trial_unpaid": {
      const invoices = await markPastDue(tx, app, at, locked, next.invoiceIds);
      const after = await endTrial(tx, app, at, { ...locked, invoices }, next, pastDue);
      return announced("subscription.past_due", after);
    }
    case "past_due": {
      const invoices = await markPastDue(tx, app, at, locked, next.invoiceIds);
      if (subscription.status !== "active") return { ...(await save({})), invoices };
      return announced("subscription.past_due", { ...(await save(pastDue)), invoices });
    }
    case "suspended": {
      const set = { status: "suspended", statusReason: "unpaid", suspendedAt: at } as const;
      return announced("subscription.suspended", await save(set));
    }
    case "canceled": {
      const set = { status: "canceled", statusReason: "unpaid", canceledAt: at } as const;
      return announced("subscription.canceled", await save({ ...set, ...noPlanChange }));
    }
    case "ended":
      return endSubscription(tx, app, at, locked, next.at);
    case "reactivated": {
      const set = { status: "active", statusReason: null } as const;
      return announced("subscription.reactivated", await save(set));
    }
    case "resumed":
      return resume(tx, app, at, locked, next);
    case "renewed":
      return renew(tx, app, at, locked, next);
    case "reminded": {
      const invoices = await remind(tx, app, at, locked, next);
      return { ...(await save({})), invoices };
    }
  }
}

const pastDue = { status: "past_due", statusReason: "unpaid" } as const;

/** Marks open invoices as past due and returns all of the subscription's invoices. */
function markPastDue(
  tx: Tx,
  app: InTx,
  at: Instant,
  locked: LockedSubscription,
  ids: readonly string[],
): Promise<readonly PlatformInvoiceRow[]> {
  return changeInvoices(locked, ids, async (invoice) => {
    if (invoice.status !== "open") return invoice;
    const set = { status: "past_due", pastDueAt: at, dunningFrom: null } as const;
    const row = await savePlatformInvoice(tx, at, invoice, set);
    await announcePlatformInvoice(tx, app, at, "platform_invoice.past_due", row);
    return row;
  });
}

/** Emits the reminder of one invoice and returns all of the subscription's invoices. */
function remind(
  tx: Tx,
  app: InTx,
  at: Instant,
  locked: LockedSubscription,
  { invoiceId, remindersSent }: Extract<Transition, { kind: "reminded" }>,
): Promise<readonly PlatformInvoiceRow[]> {
  return changeInvoices(locked, [invoiceId], async (invoice) => {
    const row = await savePlatformInvoice(tx, at, invoice, { remindersSent });
    await announcePlatformInvoice(tx, app, at, "platform_invoice.reminder", row, { remindersSent });
    return row;
  });
}

/** Changes some of the subscription's invoices and returns all of them. */
async function changeInvoices(
  { invoices }: LockedSubscription,
  ids: readonly string[],
  change: (invoice: PlatformInvoiceRow) => Promise<PlatformInvoiceRow>,
): Promise<readonly PlatformInvoiceRow[]> {
  const rows: PlatformInvoiceRow[] = [];
  for (const invoice of invoices) {
    rows.push(ids.includes(invoice.id) ? await change(invoice) : invoice);
  }
  return rows;
}

/**
 * Begins the period that the first invoice billed, under the plan that applies to it, and charges the plan difference
 * if that invoice is for another plan.
 */
async function endTrial(
  tx: Tx,
  app: InTx,
  at: Instant,
  locked: LockedSubscription,
  { period, change }: { readonly period: NextPeriod; readonly change: PlanChangeOutcome },
  set: Partial<SubscriptionRow>,
): Promise<LockedSubscription> {
  const subscription = await saveSubscription(tx, at, locked.subscription, {
    ...set,
    ...periodColumns(period),
    ...planColumns(app, locked.subscription, change),
  });
  const invoice = await chargePlanDifference(tx, app, at, subscription);
  await announceChange(tx, app, at, locked.subscription, subscription, change);
  return withInvoice({ ...locked, subscription }, invoice);
}

/** Reactivates a suspended subscription: in its current period, or in a new one that follows the skipped periods. */
async function resume(
  tx: Tx,
  app: InTx,
  at: Instant,
  locked: LockedSubscription,
  next: Extract<Transition, { kind: "resumed" }>,
): Promise<LockedSubscription> {
  const { period, skipped } = next;
  const set = { status: "active", statusReason: null, suspendedAt: null } as const;
  if (period === null) {
    const saved = await saveSubscription(tx, at, locked.subscription, set);
    await announceSubscription(tx, app, at, "subscription.reactivated", saved);
    return { ...locked, subscription: saved };
  }
  const begun = await beginPeriod(tx, app, at, locked, { period, change: next.change }, set);
  if (skipped > 0) {
    noteSubscription(tx, app, at, "subscription.periods_skipped", begun.subscription, { skipped });
  }
  await announceChange(tx, app, at, locked.subscription, begun.subscription, next.change);
  await announceSubscription(tx, app, at, "subscription.reactivated", begun.subscription);
  return withInvoice({ ...locked, subscription: begun.subscription }, begun.invoice);
}

/** Begins the period that follows the elapsed one. */
async function renew(
  tx: Tx,
  app: InTx,
  at: Instant,
  locked: LockedSubscription,
  next: Extract<Transition, { kind: "renewed" }>,
): Promise<LockedSubscription> {
  const { subscription, invoice } = await beginPeriod(tx, app, at, locked, next, {});
  const isAnnounced = await announceChange(
    tx,
    app,
    at,
    locked.subscription,
    subscription,
    next.change,
  );
  if (!isAnnounced) {
    const changes = { invoice: invoice?.number ?? null };
    noteSubscription(tx, app, at, "subscription.renewed", subscription, changes);
  }
  return withInvoice({ ...locked, subscription }, invoice);
}

/** Begins the next served period, under the plan that applies to it, and issues its invoice. */
async function beginPeriod(
  tx: Tx,
  app: InTx,
  at: Instant,
  locked: LockedSubscription,
  { period, change }: { readonly period: NextPeriod; readonly change: PlanChangeOutcome },
  set: Partial<SubscriptionRow>,
): Promise<{ subscription: SubscriptionRow; invoice: PlatformInvoiceRow | null }> {
  const subscription = await saveSubscription(tx, at, locked.subscription, {
    ...set,
    ...periodColumns(period),
    ...planColumns(app, locked.subscription, change),
  });
  const { terms } = subscription;
  const elapsed = elapsedOf(locked.subscription);
  const order = { subscription, period, terms, elapsed, dueAt: null };
  const invoice = await issuePlatformInvoice(tx, app, at, order);
  // The usage watch may not have seen the last invoices of a period before the next period began.
  const used = invoice?.usageCount ?? null;
  if (used !== null) announceUsage(tx, app, at, locked.subscription, used);
  return { subscription, invoice };
}

function planColumns(
  { config }: InTx,
  subscription: SubscriptionRow,
  change: PlanChangeOutcome,
): Partial<SubscriptionRow> {
  const terms = change === "applied" ? pendingTermsOf(config.plans, subscription) : null;
  return {
    ...(change === "none" ? {} : noPlanChange),
    ...(terms === null ? {} : { terms }),
  };
}

/** Emits the event for the outcome of a plan change; returns whether one was scheduled. */
async function announceChange(
  tx: Tx,
  app: InTx,
  at: Instant,
  before: SubscriptionRow,
  after: SubscriptionRow,
  change: PlanChangeOutcome,
): Promise<boolean> {
  if (change === "applied") {
    const changes = { plan: { from: before.terms.id, to: after.terms.id } };
    await announceSubscription(tx, app, at, "subscription.plan_changed", after, changes);
  } else if (change === "dropped") {
    const changes = { pendingPlan: { from: before.pendingPlan, to: null } };
    await announceSubscription(tx, app, at, "subscription.plan_change_dropped", after, changes);
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

/**
 * Issues a new collection invoice for the first debt whose current one can no longer be paid; the old one stays
 * watched. Returns null if there was no such debt.
 */
async function replaceCollectionInvoices(
  tx: Tx,
  app: InTx,
  at: Instant,
  locked: LockedSubscription,
): Promise<LockedSubscription | null> {
  const policy = policyOf(app.config.plans, locked.subscription.terms.id);
  for (const invoice of locked.invoices) {
    const amount = missing(invoice, locked, at);
    if (amount === 0n) continue;
    const issue = await prepareCollectionInvoice(tx, app, at, invoice, amount, policy);
    const collectionInvoice = await issue(invoice.number);
    const row = await savePlatformInvoice(tx, at, invoice, collectionColumns(collectionInvoice));
    await rememberCollectionInvoice(tx, at, row, collectionInvoice);
    const { subscription } = locked;
    const saved = await saveSubscription(tx, at, subscription, {});
    const changes = {
      number: row.number,
      twinId: { from: invoice.twinId, to: collectionInvoice.id },
    };
    noteSubscription(tx, app, at, "platform_invoice.twin_replaced", saved, changes);
    const rest = locked.invoices.map((one) => (one.id === row.id ? row : one));
    return { ...locked, subscription: saved, invoices: rest };
  }
  return null;
}

/**
 * Returns the unpaid amount of a debt whose collection invoice can no longer be paid; zero if it can be paid, or if
 * nothing is missing.
 */
function missing(
  invoice: PlatformInvoiceRow,
  { collectionInvoices }: LockedSubscription,
  at: Instant,
): bigint {
  const all = collectionInvoices.get(invoice.id) ?? [];
  const current = all.find(({ id }) => id === invoice.twinId);
  // A collection invoice that was just issued is not among the locked ones, and can be paid.
  if (current === undefined || isPayable(current, at)) return 0n;
  const { seen } = receivedAt(all);
  return seen >= invoice.total ? 0n : invoice.total - seen;
}

/** Returns true if a debt needs another collection invoice. */
export function needsCollectionInvoice(locked: LockedSubscription, at: Instant): boolean {
  return locked.invoices.some((invoice) => missing(invoice, locked, at) > 0n);
}

/** Returns when the current collection invoice expires, and another may be needed; null if it has already expired. */
export function collectionEndsAt(
  { id, twinId }: PlatformInvoiceRow,
  { collectionInvoices }: LockedSubscription,
  at: Instant,
): Instant | null {
  const endsAt =
    collectionInvoices.get(id)?.find((collectionInvoice) => collectionInvoice.id === twinId)
      ?.expiresAt ?? null;
  return endsAt !== null && endsAt > at ? endsAt : null;
}
