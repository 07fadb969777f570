import { minute, type Instant } from "../../../kernel/clock.ts";
import type { PlanCatalog } from "../../../platform/config/index.ts";
import type { Tx } from "../../../platform/database/index.ts";
import type { Cancellations } from "./cancel.ts";
import { staleFirstInvoice, type FirstInvoices } from "../invoices/first-invoice.ts";
import type { Issuer } from "../invoices/issuer.ts";
import {
  nextActionAt,
  nextTransition,
  type BegunPeriod,
  type LifecycleState,
  type PlanChangeOutcome,
  type Transition,
} from "./rules.ts";
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
import type { BillingAnnouncer } from "../announce.ts";
import {
  isPayable,
  collectionColumns,
  type CollectionInvoices,
} from "../invoices/collection-invoice.ts";

/**
 * The time between the end of a period and the counting of its usage: an invoice that is issued in the last moment of
 * the period may be committed later. No write takes longer than half of this time.
 */
export const countingPatience = 1 * minute;

/** Determines and performs the due steps of subscriptions, on a locked subscription and in the caller's transaction. */
export interface SubscriptionSteps {
  /** Performs the earliest due step; returns whether more are due. */
  advance(tx: Tx, at: Instant, locked: LockedSubscription): Promise<boolean>;
  /** After a payment, performs the due step if it reactivates the subscription without issuing an invoice. */
  follow(tx: Tx, at: Instant, locked: LockedSubscription): Promise<void>;
  /** Returns the earliest due step; null: none is due. */
  due(locked: LockedSubscription, at: Instant): Transition | null;
}

export function makeSubscriptionSteps(deps: {
  readonly catalog: PlanCatalog;
  readonly issuer: Issuer;
  readonly collectionInvoices: CollectionInvoices;
  readonly announcer: BillingAnnouncer;
  readonly cancellations: Pick<Cancellations, "end">;
  readonly firstInvoices: FirstInvoices;
}): SubscriptionSteps {
  const { catalog, issuer, collectionInvoices, announcer, cancellations, firstInvoices } = deps;

  function stateOf(locked: LockedSubscription, now: Instant): LifecycleState {
    const { subscription, invoices } = locked;
    const { terms } = subscription;
    const pendingTerms = pendingTermsOf(catalog, subscription);
    return {
      ...{ subscription, invoices, now, pendingTerms },
      inFlight: paymentsInFlight(locked),
      policy: policyOf(catalog, terms.id),
      isFirstInvoiceStale: staleFirstInvoice(locked, pendingTerms ?? terms) !== null,
    };
  }

  function due(locked: LockedSubscription, at: Instant): Transition | null {
    const next = nextTransition(stateOf(locked, at));
    return next === null || isCounting(next, at) ? null : next;
  }

  /** Returns when the billing run must process the subscription next, as far as is known now. */
  function nextCheckAt(locked: LockedSubscription, at: Instant): Instant | null {
    const state = stateOf(locked, at);
    const next = nextTransition(state);
    const counting = next !== null && isCounting(next, at);
    const times = [
      counting ? next.at + countingPatience : nextActionAt(state),
      ...locked.invoices.map((invoice) => collectionEndsAt(invoice, locked, at)),
    ].filter((time) => time !== null);
    return times.length === 0 ? null : Math.min(...times);
  }

  async function markPastDue(
    tx: Tx,
    at: Instant,
    locked: LockedSubscription,
    ids: readonly string[],
  ): Promise<readonly PlatformInvoiceRow[]> {
    const rows: PlatformInvoiceRow[] = [];
    for (const invoice of locked.invoices) {
      if (invoice.status !== "open" || !ids.includes(invoice.id)) {
        rows.push(invoice);
        continue;
      }
      const set = { status: "past_due", pastDueAt: at, dunningFrom: null } as const;
      const row = await savePlatformInvoice(tx, at, invoice, set);
      await announcer.invoice(tx, at, "platform_invoice.past_due", row);
      rows.push(row);
    }
    return rows;
  }

  /** Performs a step and returns the updated subscription. Its `nextActionAt` is not updated yet. */
  async function apply(
    tx: Tx,
    at: Instant,
    locked: LockedSubscription,
    next: Transition,
  ): Promise<LockedSubscription> {
    const { subscription } = locked;
    const save = (set: Partial<SubscriptionRow>) => saveSubscription(tx, at, subscription, set);
    switch (next.kind) {
      case "trial_ending": {
        const saved = await save({ trialNoticeAt: at });
        await announcer.subscription(tx, at, "subscription.trial_ending", saved);
        return { ...locked, subscription: saved };
      }
      case "first_invoice_replaced": {
        const terms = pendingTermsOf(catalog, subscription) ?? subscription.terms;
        const aligned = await firstInvoices.align(tx, at, locked, terms);
        return { ...aligned, subscription: await save({}) };
      }
      case "activated": {
        const after = await endTrial(tx, at, locked, next, { status: "active" });
        await announcer.subscription(tx, at, "subscription.activated", after.subscription);
        return after;
      }
      case "trial_unpaid": {
        const invoices = await markPastDue(tx, at, locked, next.invoiceIds);
        const set = { status: "past_due", statusReason: "unpaid" } as const;
        const after = await endTrial(tx, at, { ...locked, invoices }, next, set);
        await announcer.subscription(tx, at, "subscription.past_due", after.subscription);
        return after;
      }
      case "past_due": {
        const invoices = await markPastDue(tx, at, locked, next.invoiceIds);
        if (subscription.status !== "active") {
          return { ...locked, subscription: await save({}), invoices };
        }
        const saved = await save({ status: "past_due", statusReason: "unpaid" });
        await announcer.subscription(tx, at, "subscription.past_due", saved);
        return { ...locked, subscription: saved, invoices };
      }
      case "suspended": {
        const saved = await save({ status: "suspended", statusReason: "unpaid", suspendedAt: at });
        await announcer.subscription(tx, at, "subscription.suspended", saved);
        return { ...locked, subscription: saved };
      }
      case "canceled": {
        const saved = await save({
          ...{ status: "canceled", statusReason: "unpaid", canceledAt: at },
          ...noPlanChange,
        });
        await announcer.subscription(tx, at, "subscription.canceled", saved);
        return { ...locked, subscription: saved };
      }
      case "ended":
        return cancellations.end(tx, at, locked, next.at);
      case "reactivated": {
        const saved = await save({ status: "active", statusReason: null });
        await announcer.subscription(tx, at, "subscription.reactivated", saved);
        return { ...locked, subscription: saved };
      }
      case "resumed":
        return resume(tx, at, locked, next);
      case "renewed":
        return renew(tx, at, locked, next);
      case "reminded": {
        const invoices: PlatformInvoiceRow[] = [];
        for (const invoice of locked.invoices) {
          if (invoice.id !== next.invoiceId) {
            invoices.push(invoice);
            continue;
          }
          const { remindersSent } = next;
          const row = await savePlatformInvoice(tx, at, invoice, { remindersSent });
          await announcer.invoice(tx, at, "platform_invoice.reminder", row, { remindersSent });
          invoices.push(row);
        }
        return { ...locked, subscription: await save({}), invoices };
      }
    }
  }

  /**
   * Begins the period that the first invoice billed, under the plan that applies to it, and settles the plan difference
   * if that invoice is for another plan.
   */
  async function endTrial(
    tx: Tx,
    at: Instant,
    locked: LockedSubscription,
    { period, change }: { readonly period: BegunPeriod; readonly change: PlanChangeOutcome },
    set: Partial<SubscriptionRow>,
  ): Promise<LockedSubscription> {
    const subscription = await saveSubscription(tx, at, locked.subscription, {
      ...{ ...set, ...periodColumns(period), ...planColumns(locked.subscription, change) },
    });
    const invoice = await firstInvoices.settle(tx, at, subscription);
    await announceChange(tx, at, locked.subscription, subscription, change);
    return withInvoice({ ...locked, subscription }, invoice);
  }

  function planColumns(
    subscription: SubscriptionRow,
    change: PlanChangeOutcome,
  ): Partial<SubscriptionRow> {
    const terms = change === "applied" ? pendingTermsOf(catalog, subscription) : null;
    return {
      ...(change === "none" ? {} : noPlanChange),
      ...(terms === null ? {} : { terms }),
    };
  }

  async function resume(
    tx: Tx,
    at: Instant,
    locked: LockedSubscription,
    next: Extract<Transition, { kind: "resumed" }>,
  ): Promise<LockedSubscription> {
    const { period, skipped } = next;
    const set = { status: "active", statusReason: null, suspendedAt: null } as const;
    if (period === null) {
      const saved = await saveSubscription(tx, at, locked.subscription, set);
      await announcer.subscription(tx, at, "subscription.reactivated", saved);
      return { ...locked, subscription: saved };
    }
    const begun = await beginPeriod(tx, at, locked, { period, change: next.change }, set);
    if (skipped > 0) {
      announcer.note(tx, at, "subscription.periods_skipped", begun.subscription, { skipped });
    }
    await announceChange(tx, at, locked.subscription, begun.subscription, next.change);
    await announcer.subscription(tx, at, "subscription.reactivated", begun.subscription);
    return withInvoice({ ...locked, subscription: begun.subscription }, begun.invoice);
  }

  async function renew(
    tx: Tx,
    at: Instant,
    locked: LockedSubscription,
    next: Extract<Transition, { kind: "renewed" }>,
  ): Promise<LockedSubscription> {
    const { subscription, invoice } = await beginPeriod(tx, at, locked, next, {});
    const isAnnounced = await announceChange(
      tx,
      at,
      locked.subscription,
      subscription,
      next.change,
    );
    if (!isAnnounced) {
      const changes = { invoice: invoice?.number ?? null };
      announcer.note(tx, at, "subscription.renewed", subscription, changes);
    }
    return withInvoice({ ...locked, subscription }, invoice);
  }

  /** Begins the next served period, under the plan that applies to it, and issues its invoice. */
  async function beginPeriod(
    tx: Tx,
    at: Instant,
    locked: LockedSubscription,
    { period, change }: { readonly period: BegunPeriod; readonly change: PlanChangeOutcome },
    set: Partial<SubscriptionRow>,
  ): Promise<{ subscription: SubscriptionRow; invoice: PlatformInvoiceRow | null }> {
    const subscription = await saveSubscription(tx, at, locked.subscription, {
      ...{ ...set, ...periodColumns(period), ...planColumns(locked.subscription, change) },
    });
    const { terms } = subscription;
    const elapsed = elapsedOf(locked.subscription);
    const order = { subscription, period, terms, elapsed, dueAt: null };
    const invoice = await issuer.issue(tx, at, order);
    // The usage watch may not have seen the last invoices of a period before the next period began.
    const used = invoice?.usageCount ?? null;
    if (used !== null) announcer.usage(tx, at, locked.subscription, used);
    return { subscription, invoice };
  }

  /** Emits the event for the outcome of a plan change; returns whether one was scheduled. */
  async function announceChange(
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

  /**
   * Issues a new collection invoice for the first debt whose current one can no longer be paid; the old one stays
   * watched. Returns null if there was no such debt.
   */
  async function replaceCollectionInvoices(
    tx: Tx,
    at: Instant,
    locked: LockedSubscription,
  ): Promise<LockedSubscription | null> {
    const policy = policyOf(catalog, locked.subscription.terms.id);
    for (const invoice of locked.invoices) {
      const amount = missing(invoice, locked, at);
      if (amount === 0n) continue;
      const issue = await collectionInvoices.prepare(tx, at, invoice, amount, policy);
      const collectionInvoice = await issue(invoice.number);
      const row = await savePlatformInvoice(tx, at, invoice, collectionColumns(collectionInvoice));
      await collectionInvoices.remember(tx, at, row, collectionInvoice);
      const { subscription } = locked;
      const saved = await saveSubscription(tx, at, subscription, {});
      const changes = {
        number: row.number,
        twinId: { from: invoice.twinId, to: collectionInvoice.id },
      };
      announcer.note(tx, at, "platform_invoice.twin_replaced", saved, changes);
      const rest = locked.invoices.map((one) => (one.id === row.id ? row : one));
      return { ...locked, subscription: saved, invoices: rest };
    }
    return null;
  }

  async function keepNextAction(
    tx: Tx,
    at: Instant,
    locked: LockedSubscription,
    nextActionAt: Instant | null,
  ): Promise<void> {
    if (locked.subscription.nextActionAt === nextActionAt) return;
    await saveSubscription(tx, at, locked.subscription, { nextActionAt });
  }

  return {
    due,

    async advance(tx, at, locked) {
      const next = due(locked, at);
      const after = next === null ? null : await apply(tx, at, locked, next);
      const replaced = after === null ? await replaceCollectionInvoices(tx, at, locked) : null;
      // A new collection invoice is not among the locked ones: another step reads it.
      const isMore =
        replaced !== null || (after !== null && (due(after, at) !== null || isMissing(after, at)));
      const stands = replaced ?? after ?? locked;
      await keepNextAction(tx, at, stands, isMore ? at : nextCheckAt(stands, at));
      return isMore;
    },

    async follow(tx, at, locked) {
      let now = locked;
      const next = due(now, at);
      const isFree = next?.kind === "resumed" && next.period === null;
      if (next !== null && (isFree || next.kind === "reactivated")) {
        now = await apply(tx, at, now, next);
      }
      // The billing run does everything else; the caller wakes it.
      await saveSubscription(tx, at, now.subscription, { nextActionAt: at });
    },
  };
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

function isMissing(locked: LockedSubscription, at: Instant): boolean {
  return locked.invoices.some((invoice) => missing(invoice, locked, at) > 0n);
}

/** Returns when the current collection invoice expires, and another may be needed; null if it has already expired. */
function collectionEndsAt(
  { id, twinId }: PlatformInvoiceRow,
  { collectionInvoices }: LockedSubscription,
  at: Instant,
): Instant | null {
  const endsAt =
    collectionInvoices.get(id)?.find((collectionInvoice) => collectionInvoice.id === twinId)
      ?.expiresAt ?? null;
  return endsAt !== null && endsAt > at ? endsAt : null;
}

function isCounting(next: Transition, at: Instant): boolean {
  return next.kind === "renewed" && at < next.at + countingPatience;
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
