import { day, hour, type Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import type { BillingPolicy } from "../../../platform/config/plans.ts";
import { periodAt, periodIndexAt, type Interval, type Period } from "../periods.ts";
import type { PlatformInvoiceRow, SubscriptionRow } from "../table.ts";

/** The fields of a subscription that decide its next step. */
export type LifecycleSubscription = Pick<
  SubscriptionRow,
  | "status"
  | "anchorAt"
  | "periodIndex"
  | "currentPeriodEnd"
  | "trialEndsAt"
  | "trialNoticeAt"
  | "suspendedAt"
  | "cancelAt"
  | "pendingPlan"
  | "createdAt"
> & { readonly terms: { readonly interval: Interval } };

/** The fields of an `open` or `past_due` platform invoice that decide the next step. */
export type UnpaidInvoice = Pick<
  PlatformInvoiceRow,
  "id" | "status" | "issuedAt" | "dueAt" | "dunningFrom" | "remindersSent"
>;

export interface LifecycleState {
  readonly subscription: LifecycleSubscription;
  /** The subscription's `open` and `past_due` invoices; invoices in another status do not belong here. */
  readonly invoices: readonly UnpaidInvoice[];
  /** The invoices whose total has been seen but not yet confirmed, each with the time since when. */
  readonly inFlight: ReadonlyMap<Id<"platformInvoice">, Instant>;
  readonly policy: BillingPolicy;
  /** The terms of the scheduled plan change, from `pendingTermsOf`. */
  readonly pendingTerms: { readonly interval: Interval } | null;
  /** Whether the first invoice of a trial must be replaced, from `staleFirstInvoice`. */
  readonly isFirstInvoiceStale: boolean;
  readonly now: Instant;
}

/** The outcome of a scheduled plan change at the end of a period: `dropped` if its plan is no longer available. */
export type PlanChangeOutcome = "none" | "applied" | "dropped";

/** A period and its index. It and the following periods are counted from `anchorAt` in steps of `interval`. */
export interface NextPeriod extends Period {
  readonly anchorAt: Instant;
  readonly interval: Interval;
  readonly index: number;
}

/** A step of a subscription, and the time at which it is due. */
export type Transition = { readonly at: Instant } & (
  | { readonly kind: "trial_ending" }
  /** The first invoice of a trial is for another plan than the one that follows the trial, and can be replaced. */
  | { readonly kind: "first_invoice_replaced" }
  /** The trial is over and nothing is owed: the first paid period begins. */
  | {
      readonly kind: "activated";
      readonly period: NextPeriod;
      readonly change: PlanChangeOutcome;
    }
  /** The trial is over and its invoice is not paid. */
  | {
      readonly kind: "trial_unpaid";
      readonly period: NextPeriod;
      readonly change: PlanChangeOutcome;
      readonly invoiceIds: readonly Id<"platformInvoice">[];
    }
  /** The next period begins, and its invoice is issued. */
  | { readonly kind: "renewed"; readonly period: NextPeriod; readonly change: PlanChangeOutcome }
  /** Invoices become past due; so does the subscription, unless it is suspended or canceled. */
  | { readonly kind: "past_due"; readonly invoiceIds: readonly Id<"platformInvoice">[] }
  | { readonly kind: "suspended" }
  | { readonly kind: "canceled" }
  /** A scheduled cancellation takes effect at a period boundary. */
  | { readonly kind: "ended" }
  /** No invoice is past due any longer. */
  | { readonly kind: "reactivated" }
  /**
   * No invoice of a suspended subscription is past due any longer. `period` is null if the period in which it was
   * suspended has not ended; `skipped` counts the periods that passed unserved.
   */
  | {
      readonly kind: "resumed";
      readonly period: NextPeriod | null;
      readonly skipped: number;
      readonly change: PlanChangeOutcome;
    }
  /** `remindersSent` is the new value to store with the invoice. */
  | {
      readonly kind: "reminded";
      readonly invoiceId: Id<"platformInvoice">;
      readonly remindersSent: number;
    }
);

/** How long before the end of a trial `subscription.trial_ending` is emitted. */
const trialNotice = 3 * day;

/** Returns the earliest step that is due now; null: none. Call it again after performing the step. */
export function nextTransition(state: LifecycleState): Transition | null {
  const next = earliest(upcoming(state));
  return next !== null && next.at <= state.now ? next : null;
}

/** Returns when the next step is due, as far as is known now; null: never, unless something changes. */
export function nextActionAt(state: LifecycleState): Instant | null {
  return earliest(upcoming(state))?.at ?? null;
}

function earliest(transitions: readonly Transition[]): Transition | null {
  // Of several steps with the same time, the first in the list wins.
  return transitions.reduce<Transition | null>(
    (first, one) => (first === null || one.at < first.at ? one : first),
    null,
  );
}

function upcoming(state: LifecycleState): Transition[] {
  switch (state.subscription.status) {
    case "trialing":
      return [
        ...firstInvoice(state),
        ...trialEnd(state),
        ...trialReminders(state),
        ...trialEnding(state),
      ];
    case "active":
      return [...overdue(state), ...renewal(state), ...reminders(state)];
    case "past_due":
      return hasDebt(state)
        ? [...suspension(state), ...overdue(state), ...renewal(state), ...reminders(state)]
        : [{ kind: "reactivated", at: state.now }];
    case "suspended":
      return hasDebt(state) ? [...cancellation(state), ...overdue(state)] : [resumption(state)];
    case "canceled":
      return overdue(state);
  }
}

function hasDebt({ invoices }: LifecycleState): boolean {
  return invoices.some(({ status }) => status === "past_due");
}

function withStatus(
  { invoices }: LifecycleState,
  status: UnpaidInvoice["status"],
): readonly UnpaidInvoice[] {
  return invoices.filter((invoice) => invoice.status === status);
}

/**
 * Postpones a deadline of dunning while a payment is in flight, for at most the policy's `paymentInFlightHours`, and
 * during the pause after a reorganization removed a payment.
 */
function held(state: LifecycleState, invoice: UnpaidInvoice, deadline: Instant): Instant {
  const seenAt = state.inFlight.get(invoice.id);
  const patience = state.policy.paymentInFlightHours * hour;
  const heldUntil = seenAt === undefined ? deadline : seenAt + patience;
  return Math.max(deadline, heldUntil, invoice.dunningFrom ?? deadline);
}

function trialEnding({ subscription }: LifecycleState): Transition[] {
  const { trialEndsAt, trialNoticeAt, createdAt } = subscription;
  if (trialEndsAt === null || trialNoticeAt !== null) return [];
  const at = trialEndsAt - trialNotice;
  // No notice for a trial that is not longer than the notice period: its end was just announced.
  return at > createdAt ? [{ kind: "trial_ending", at }] : [];
}

function firstInvoice({ subscription, isFirstInvoiceStale }: LifecycleState): Transition[] {
  // Comes before every other step of the trial, even its end.
  const at = subscription.createdAt;
  return isFirstInvoiceStale ? [{ kind: "first_invoice_replaced", at }] : [];
}

function trialEnd(state: LifecycleState): Transition[] {
  const { subscription } = state;
  const endsAt = subscription.trialEndsAt ?? subscription.currentPeriodEnd;
  if (endsBy(subscription, endsAt)) return [{ kind: "ended", at: endsAt }];
  const { change, interval } = pendingChangeOf(state);
  const period = begin(subscription.anchorAt, interval, 0);
  const unpaid = state.invoices.filter(({ status }) => status === "open" || status === "past_due");
  if (unpaid.length === 0) return [{ kind: "activated", at: endsAt, period, change }];
  // The due date may lie after the trial's end: it is extended by a downtime in which nobody could pay.
  const at = Math.max(...unpaid.map((invoice) => held(state, invoice, invoice.dueAt)), endsAt);
  return [{ kind: "trial_unpaid", at, period, change, invoiceIds: unpaid.map(({ id }) => id) }];
}

function overdue(state: LifecycleState): Transition[] {
  const deadlines = withStatus(state, "open").map((invoice) => ({
    id: invoice.id,
    at: held(state, invoice, invoice.dueAt),
  }));
  if (deadlines.length === 0) return [];
  const at = Math.min(...deadlines.map((one) => one.at));
  const invoiceIds = deadlines.filter((one) => one.at === at).map(({ id }) => id);
  return [{ kind: "past_due", at, invoiceIds }];
}

/** Returns when the first of the past-due invoices reaches the end of its grace period. */
function graceEnd(state: LifecycleState): Instant {
  const { graceDays } = state.policy;
  const ends = withStatus(state, "past_due").map((invoice) =>
    held(state, invoice, invoice.dueAt + graceDays * day),
  );
  return Math.min(...ends);
}

function suspension(state: LifecycleState): Transition[] {
  return [{ kind: "suspended", at: graceEnd(state) }];
}

function cancellation(state: LifecycleState): Transition[] {
  const { subscription, policy } = state;
  const patience = policy.cancelAfterSuspendedDays * day;
  const suspendedAt = subscription.suspendedAt ?? 0;
  const ends = withStatus(state, "past_due").map((invoice) =>
    // A due date that was extended since the suspension postpones the cancellation too.
    held(state, invoice, Math.max(suspendedAt, invoice.dueAt + policy.graceDays * day) + patience),
  );
  return [{ kind: "canceled", at: Math.min(...ends) }];
}

/**
 * The effect of a request for a plan on a subscription. It never changes the plan or the status:
 *
 * - `scheduled`: the plan becomes the pending one and takes effect at the end of the current period
 * - `cleared`: the plan is the current one, and the scheduled change is dropped
 * - `unchanged`: the plan is already the current one or the pending one
 * - `refused`: the subscription is canceled and has no further period
 * - `ending`: also refused, because the platform has scheduled the subscription's cancellation
 */
type PlanRequestEffect = "scheduled" | "cleared" | "unchanged" | "refused" | "ending";

/** Returns the effect of a request for a plan. */
export function decidePlanChange(
  subscription: Pick<SubscriptionRow, "status" | "pendingPlan" | "cancelAt"> & {
    readonly terms: { readonly id: string };
  },
  planId: string,
): PlanRequestEffect {
  const { status, pendingPlan, cancelAt, terms } = subscription;
  if (status === "canceled") return "refused";
  if (cancelAt !== null) return "ending";
  if (planId === terms.id) return pendingPlan === null ? "unchanged" : "cleared";
  return planId === pendingPlan ? "unchanged" : "scheduled";
}

/** Returns the outcome of the scheduled plan change at the end of the period, and the billing interval after it. */
function pendingChangeOf({ subscription, pendingTerms }: LifecycleState): {
  readonly change: PlanChangeOutcome;
  readonly interval: Interval;
} {
  const { interval } = subscription.terms;
  if (subscription.pendingPlan === null) return { change: "none", interval };
  if (pendingTerms === null) return { change: "dropped", interval };
  return { change: "applied", interval: pendingTerms.interval };
}

function endsBy({ cancelAt }: LifecycleSubscription, at: Instant): boolean {
  return cancelAt !== null && cancelAt <= at;
}

function renewal(state: LifecycleState): Transition[] {
  const { subscription } = state;
  const { currentPeriodEnd: at } = subscription;
  if (endsBy(subscription, at)) return [{ kind: "ended", at }];
  const { change, interval } = pendingChangeOf(state);
  return [{ kind: "renewed", at, period: periodAfter(subscription, interval), change }];
}

/** Returns the period that follows the current one, if it is renewed under a plan with this interval. */
export function periodAfter(
  {
    anchorAt,
    periodIndex,
    currentPeriodEnd,
    terms,
  }: Pick<LifecycleSubscription, "anchorAt" | "periodIndex" | "currentPeriodEnd" | "terms">,
  interval: Interval,
): NextPeriod {
  return interval === terms.interval
    ? begin(anchorAt, interval, periodIndex + 1)
    : begin(currentPeriodEnd, interval, 0);
}

function resumption(state: LifecycleState): Transition {
  const { subscription, now: at } = state;
  const { anchorAt, periodIndex, currentPeriodEnd, terms } = subscription;
  if (endsBy(subscription, at)) return { kind: "ended", at };
  if (at < currentPeriodEnd) {
    return { kind: "resumed", at, period: null, skipped: 0, change: "none" };
  }
  const index = periodIndexAt(anchorAt, terms.interval, at);
  const { change, interval } = pendingChangeOf(state);
  // A new interval is counted from the start of the current month, so that the unserved time is not charged.
  const month = periodAt(anchorAt, "month", periodIndexAt(anchorAt, "month", at));
  const period =
    interval === terms.interval
      ? begin(anchorAt, interval, index)
      : begin(month.start, interval, 0);
  return { kind: "resumed", at, period, skipped: index - periodIndex - 1, change };
}

/** Of several reminders that are due, only the last is sent; reminders dated before the issue are never sent. */
function reminders(state: LifecycleState): Transition[] {
  const { reminderDays } = state.policy;
  return state.invoices.flatMap((invoice): Transition[] => {
    if (state.inFlight.has(invoice.id)) return [];
    const times = reminderDays.map((days) => invoice.dueAt + days * day);
    const isComing = (at: Instant, index: number) =>
      index >= invoice.remindersSent && at > invoice.issuedAt;
    const passed = times.findLastIndex((at, index) => isComing(at, index) && at <= state.now);
    const index = passed === -1 ? times.findIndex(isComing) : passed;
    const at = times[index];
    if (at === undefined) return [];
    return [{ kind: "reminded", at, invoiceId: invoice.id, remindersSent: index + 1 }];
  });
}

/** No reminders if a scheduled cancellation will void the invoice at the end of the trial. */
function trialReminders(state: LifecycleState): Transition[] {
  return state.subscription.cancelAt === null ? reminders(state) : [];
}

function begin(anchorAt: Instant, interval: Interval, index: number): NextPeriod {
  return { anchorAt, interval, index, ...periodAt(anchorAt, interval, index) };
}
