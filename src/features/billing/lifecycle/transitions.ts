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
  type Scene,
} from "../store.ts";
import type { PlatformInvoiceRow, SubscriptionRow } from "../table.ts";
import type { Teller } from "../announce.ts";
import { isPayable, twinColumns, type Twins } from "../invoices/collection-invoice.ts";

/**
 * The time between the end of a period and the counting of its usage: an invoice that is issued in the last moment of
 * the period may be committed later. No write takes longer than half of this time.
 */
export const countingPatience = 1 * minute;

/** Determines and performs the due steps of subscriptions, on a locked scene and in the caller's transaction. */
export interface Transitions {
  /** Performs the earliest due step; returns whether more are due. */
  advance(tx: Tx, at: Instant, scene: Scene): Promise<boolean>;
  /** After a payment, performs the due step if it reactivates the subscription without issuing an invoice. */
  follow(tx: Tx, at: Instant, scene: Scene): Promise<void>;
  /** Returns the earliest due step; null: none is due. */
  due(scene: Scene, at: Instant): Transition | null;
}

export function makeTransitions(deps: {
  readonly catalog: PlanCatalog;
  readonly issuer: Issuer;
  readonly twins: Twins;
  readonly teller: Teller;
  readonly cancellations: Pick<Cancellations, "end">;
  readonly firstInvoices: FirstInvoices;
}): Transitions {
  const { catalog, issuer, twins, teller, cancellations, firstInvoices } = deps;

  function stateOf(scene: Scene, now: Instant): LifecycleState {
    const { subscription, invoices } = scene;
    const { terms } = subscription;
    const pendingTerms = pendingTermsOf(catalog, subscription);
    return {
      ...{ subscription, invoices, now, pendingTerms },
      inFlight: paymentsInFlight(scene),
      policy: policyOf(catalog, terms.id),
      isFirstInvoiceStale: staleFirstInvoice(scene, pendingTerms ?? terms) !== null,
    };
  }

  function due(scene: Scene, at: Instant): Transition | null {
    const next = nextTransition(stateOf(scene, at));
    return next === null || isCounting(next, at) ? null : next;
  }

  /** Returns when the billing run must process the subscription next, as far as is known now. */
  function lookAgainAt(scene: Scene, at: Instant): Instant | null {
    const state = stateOf(scene, at);
    const next = nextTransition(state);
    const counting = next !== null && isCounting(next, at);
    const times = [
      counting ? next.at + countingPatience : nextActionAt(state),
      ...scene.invoices.map((invoice) => twinEndsAt(invoice, scene, at)),
    ].filter((time) => time !== null);
    return times.length === 0 ? null : Math.min(...times);
  }

  async function markPastDue(
    tx: Tx,
    at: Instant,
    scene: Scene,
    ids: readonly string[],
  ): Promise<readonly PlatformInvoiceRow[]> {
    const rows: PlatformInvoiceRow[] = [];
    for (const invoice of scene.invoices) {
      if (invoice.status !== "open" || !ids.includes(invoice.id)) {
        rows.push(invoice);
        continue;
      }
      const set = { status: "past_due", pastDueAt: at, dunningFrom: null } as const;
      const row = await savePlatformInvoice(tx, at, invoice, set);
      await teller.invoice(tx, at, "platform_invoice.past_due", row);
      rows.push(row);
    }
    return rows;
  }

  /** Performs a step and returns the updated scene. Its `nextActionAt` is not updated yet. */
  async function apply(tx: Tx, at: Instant, scene: Scene, next: Transition): Promise<Scene> {
    const { subscription } = scene;
    const save = (set: Partial<SubscriptionRow>) => saveSubscription(tx, at, subscription, set);
    switch (next.kind) {
      case "trial_ending": {
        const saved = await save({ trialNoticeAt: at });
        await teller.subscription(tx, at, "subscription.trial_ending", saved);
        return { ...scene, subscription: saved };
      }
      case "first_invoice_replaced": {
        const terms = pendingTermsOf(catalog, subscription) ?? subscription.terms;
        const aligned = await firstInvoices.align(tx, at, scene, terms);
        return { ...aligned, subscription: await save({}) };
      }
      case "activated": {
        const after = await endTrial(tx, at, scene, next, { status: "active" });
        await teller.subscription(tx, at, "subscription.activated", after.subscription);
        return after;
      }
      case "trial_unpaid": {
        const invoices = await markPastDue(tx, at, scene, next.invoiceIds);
        const set = { status: "past_due", statusReason: "unpaid" } as const;
        const after = await endTrial(tx, at, { ...scene, invoices }, next, set);
        await teller.subscription(tx, at, "subscription.past_due", after.subscription);
        return after;
      }
      case "past_due": {
        const invoices = await markPastDue(tx, at, scene, next.invoiceIds);
        if (subscription.status !== "active") {
          return { ...scene, subscription: await save({}), invoices };
        }
        const saved = await save({ status: "past_due", statusReason: "unpaid" });
        await teller.subscription(tx, at, "subscription.past_due", saved);
        return { ...scene, subscription: saved, invoices };
      }
      case "suspended": {
        const saved = await save({ status: "suspended", statusReason: "unpaid", suspendedAt: at });
        await teller.subscription(tx, at, "subscription.suspended", saved);
        return { ...scene, subscription: saved };
      }
      case "canceled": {
        const saved = await save({
          ...{ status: "canceled", statusReason: "unpaid", canceledAt: at },
          ...noPlanChange,
        });
        await teller.subscription(tx, at, "subscription.canceled", saved);
        return { ...scene, subscription: saved };
      }
      case "ended":
        return cancellations.end(tx, at, scene, next.at);
      case "reactivated": {
        const saved = await save({ status: "active", statusReason: null });
        await teller.subscription(tx, at, "subscription.reactivated", saved);
        return { ...scene, subscription: saved };
      }
      case "resumed":
        return resume(tx, at, scene, next);
      case "renewed":
        return renew(tx, at, scene, next);
      case "reminded": {
        const invoices: PlatformInvoiceRow[] = [];
        for (const invoice of scene.invoices) {
          if (invoice.id !== next.invoiceId) {
            invoices.push(invoice);
            continue;
          }
          const { remindersSent } = next;
          const row = await savePlatformInvoice(tx, at, invoice, { remindersSent });
          await teller.invoice(tx, at, "platform_invoice.reminder", row, { remindersSent });
          invoices.push(row);
        }
        return { ...scene, subscription: await save({}), invoices };
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
    scene: Scene,
    { period, change }: { readonly period: BegunPeriod; readonly change: PlanChangeOutcome },
    set: Partial<SubscriptionRow>,
  ): Promise<Scene> {
    const subscription = await saveSubscription(tx, at, scene.subscription, {
      ...{ ...set, ...periodColumns(period), ...planColumns(scene.subscription, change) },
    });
    const invoice = await firstInvoices.settle(tx, at, subscription);
    await tellChange(tx, at, scene.subscription, subscription, change);
    return withInvoice({ ...scene, subscription }, invoice);
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
    scene: Scene,
    next: Extract<Transition, { kind: "resumed" }>,
  ): Promise<Scene> {
    const { period, skipped } = next;
    const set = { status: "active", statusReason: null, suspendedAt: null } as const;
    if (period === null) {
      const saved = await saveSubscription(tx, at, scene.subscription, set);
      await teller.subscription(tx, at, "subscription.reactivated", saved);
      return { ...scene, subscription: saved };
    }
    const begun = await beginPeriod(tx, at, scene, { period, change: next.change }, set);
    if (skipped > 0) {
      teller.note(tx, at, "subscription.periods_skipped", begun.subscription, { skipped });
    }
    await tellChange(tx, at, scene.subscription, begun.subscription, next.change);
    await teller.subscription(tx, at, "subscription.reactivated", begun.subscription);
    return withInvoice({ ...scene, subscription: begun.subscription }, begun.invoice);
  }

  async function renew(
    tx: Tx,
    at: Instant,
    scene: Scene,
    next: Extract<Transition, { kind: "renewed" }>,
  ): Promise<Scene> {
    const { subscription, invoice } = await beginPeriod(tx, at, scene, next, {});
    const isTold = await tellChange(tx, at, scene.subscription, subscription, next.change);
    if (!isTold) {
      const changes = { invoice: invoice?.number ?? null };
      teller.note(tx, at, "subscription.renewed", subscription, changes);
    }
    return withInvoice({ ...scene, subscription }, invoice);
  }

  /** Begins the next served period, under the plan that applies to it, and issues its invoice. */
  async function beginPeriod(
    tx: Tx,
    at: Instant,
    scene: Scene,
    { period, change }: { readonly period: BegunPeriod; readonly change: PlanChangeOutcome },
    set: Partial<SubscriptionRow>,
  ): Promise<{ subscription: SubscriptionRow; invoice: PlatformInvoiceRow | null }> {
    const subscription = await saveSubscription(tx, at, scene.subscription, {
      ...{ ...set, ...periodColumns(period), ...planColumns(scene.subscription, change) },
    });
    const { terms } = subscription;
    const elapsed = elapsedOf(scene.subscription);
    const order = { subscription, period, terms, elapsed, dueAt: null };
    const invoice = await issuer.issue(tx, at, order);
    // The usage watch may not have seen the last invoices of a period before the next period began.
    const used = invoice?.usageCount ?? null;
    if (used !== null) teller.usage(tx, at, scene.subscription, used);
    return { subscription, invoice };
  }

  /** Emits the event for the outcome of a plan change; returns whether one was scheduled. */
  async function tellChange(
    tx: Tx,
    at: Instant,
    before: SubscriptionRow,
    after: SubscriptionRow,
    change: PlanChangeOutcome,
  ): Promise<boolean> {
    if (change === "applied") {
      const changes = { plan: { from: before.terms.id, to: after.terms.id } };
      await teller.subscription(tx, at, "subscription.plan_changed", after, changes);
    } else if (change === "dropped") {
      const changes = { pendingPlan: { from: before.pendingPlan, to: null } };
      await teller.subscription(tx, at, "subscription.plan_change_dropped", after, changes);
    }
    return change !== "none";
  }

  /**
   * Issues a new collection invoice for the first debt whose current one can no longer be paid; the old one stays
   * watched. Returns null if there was no such debt.
   */
  async function replaceTwins(tx: Tx, at: Instant, scene: Scene): Promise<Scene | null> {
    const policy = policyOf(catalog, scene.subscription.terms.id);
    for (const invoice of scene.invoices) {
      const amount = missing(invoice, scene, at);
      if (amount === 0n) continue;
      const issue = await twins.prepare(tx, at, invoice, amount, policy);
      const twin = await issue(invoice.number);
      const row = await savePlatformInvoice(tx, at, invoice, twinColumns(twin));
      await twins.remember(tx, at, row, twin);
      const { subscription } = scene;
      const saved = await saveSubscription(tx, at, subscription, {});
      const changes = { number: row.number, twinId: { from: invoice.twinId, to: twin.id } };
      teller.note(tx, at, "platform_invoice.twin_replaced", saved, changes);
      const rest = scene.invoices.map((one) => (one.id === row.id ? row : one));
      return { ...scene, subscription: saved, invoices: rest };
    }
    return null;
  }

  async function keepNextAction(
    tx: Tx,
    at: Instant,
    scene: Scene,
    nextActionAt: Instant | null,
  ): Promise<void> {
    if (scene.subscription.nextActionAt === nextActionAt) return;
    await saveSubscription(tx, at, scene.subscription, { nextActionAt });
  }

  return {
    due,

    async advance(tx, at, scene) {
      const next = due(scene, at);
      const after = next === null ? null : await apply(tx, at, scene, next);
      const replaced = after === null ? await replaceTwins(tx, at, scene) : null;
      // A new collection invoice is not in the scene: another step reads the scene with it.
      const isMore =
        replaced !== null || (after !== null && (due(after, at) !== null || isMissing(after, at)));
      const stands = replaced ?? after ?? scene;
      await keepNextAction(tx, at, stands, isMore ? at : lookAgainAt(stands, at));
      return isMore;
    },

    async follow(tx, at, scene) {
      let now = scene;
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
function missing(invoice: PlatformInvoiceRow, { twins }: Scene, at: Instant): bigint {
  const all = twins.get(invoice.id) ?? [];
  const current = all.find(({ id }) => id === invoice.twinId);
  // A collection invoice that was just issued is not in the scene, and can be paid.
  if (current === undefined || isPayable(current, at)) return 0n;
  const { seen } = receivedAt(all);
  return seen >= invoice.total ? 0n : invoice.total - seen;
}

function isMissing(scene: Scene, at: Instant): boolean {
  return scene.invoices.some((invoice) => missing(invoice, scene, at) > 0n);
}

/** Returns when the current collection invoice expires, and another may be needed; null if it has already expired. */
function twinEndsAt(
  { id, twinId }: PlatformInvoiceRow,
  { twins }: Scene,
  at: Instant,
): Instant | null {
  const endsAt = twins.get(id)?.find((twin) => twin.id === twinId)?.expiresAt ?? null;
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

function withInvoice(scene: Scene, invoice: PlatformInvoiceRow | null): Scene {
  if (invoice === null || invoice.status !== "open") return scene;
  return { ...scene, invoices: [...scene.invoices, invoice] };
}
