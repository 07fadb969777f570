import { day, hour, type Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import type { BillingPolicy } from "../../platform/config/index.ts";
import { periodAt, periodIndexAt, type Interval, type Period } from "./periods.ts";
import type { PlatformInvoiceRow, SubscriptionRow } from "./table.ts";

/** What the decision reads of a subscription. */
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

/** What it reads of a platform invoice that is `open` or `past_due`. */
export type UnpaidInvoice = Pick<
  PlatformInvoiceRow,
  "id" | "status" | "issuedAt" | "dueAt" | "dunningFrom" | "remindersSent"
>;

export interface LifecycleState {
  readonly subscription: LifecycleSubscription;
  /** Those of the subscription that are `open` or `past_due`; an invoice in another status is not looked at. */
  readonly invoices: readonly UnpaidInvoice[];
  /** Since when all that an invoice asks for has been seen and waits for its confirmations. */
  readonly inFlight: ReadonlyMap<Id<"platformInvoice">, Instant>;
  readonly policy: BillingPolicy;
  /** The terms that the scheduled plan change brings, as `pendingTermsOf` says. */
  readonly pendingTerms: { readonly interval: Interval } | null;
  /** Whether the first invoice of a trial has to be replaced, as `staleFirstInvoice` says. */
  readonly isFirstInvoiceStale: boolean;
  readonly now: Instant;
}

/** The fate of a scheduled plan change at the end of a period: `dropped` where the catalog has its plan no more. */
export type PlanChangeOutcome = "none" | "applied" | "dropped";

/** Where a period stands. `anchorAt` and `interval` are those that it and what follows are counted from. */
export interface BegunPeriod extends Period {
  readonly anchorAt: Instant;
  readonly interval: Interval;
  readonly index: number;
}

/** What is due next, and since when. */
export type Transition = { readonly at: Instant } & (
  | { readonly kind: "trial_ending" }
  /** The first invoice of a trial asks for another plan than the one that the trial leads to, and can be replaced. */
  | { readonly kind: "first_invoice_replaced" }
  /** The trial is over and nothing is owed: its first paid period runs. */
  | {
      readonly kind: "activated";
      readonly period: BegunPeriod;
      readonly change: PlanChangeOutcome;
    }
  /** The trial is over and its invoice is not paid. */
  | {
      readonly kind: "trial_unpaid";
      readonly period: BegunPeriod;
      readonly change: PlanChangeOutcome;
      readonly invoiceIds: readonly Id<"platformInvoice">[];
    }
  /** A boundary: the next period begins, and its invoice is issued. */
  | { readonly kind: "renewed"; readonly period: BegunPeriod; readonly change: PlanChangeOutcome }
  /** Invoices were not paid in time; so is the subscription, unless it is suspended or canceled already. */
  | { readonly kind: "past_due"; readonly invoiceIds: readonly Id<"platformInvoice">[] }
  | { readonly kind: "suspended" }
  | { readonly kind: "canceled" }
  /** A boundary at which it ends, because an operator asked for that. */
  | { readonly kind: "ended" }
  /** Nothing is past due any more. */
  | { readonly kind: "reactivated" }
  /** The same after a suspension; `period` is null while the one that it was suspended in still runs. */
  | {
      readonly kind: "resumed";
      readonly period: BegunPeriod | null;
      readonly skipped: number;
      readonly change: PlanChangeOutcome;
    }
  /** `remindersSent` is what the invoice has to keep. */
  | {
      readonly kind: "reminded";
      readonly invoiceId: Id<"platformInvoice">;
      readonly remindersSent: number;
    }
);

/** How long before its end it is told that a trial ends. */
export const trialNotice = 3 * day;

/** The one thing that is due now, the earliest first; null: nothing is. To be asked again after it was done. */
export function nextTransition(state: LifecycleState): Transition | null {
  const next = earliest(upcoming(state));
  return next !== null && next.at <= state.now ? next : null;
}

/** When there will be something to do, as far as it is known now; null: never, unless something happens. */
export function nextActionAt(state: LifecycleState): Instant | null {
  return earliest(upcoming(state))?.at ?? null;
}

function earliest(transitions: readonly Transition[]): Transition | null {
  // Of those of one moment the first that was listed is done first.
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

/** Everything that dunning does waits for a payment in flight, and for who lost a payment to a reorganisation. */
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
  // Who began a trial as short as that was told when it ends.
  return at > createdAt ? [{ kind: "trial_ending", at }] : [];
}

function firstInvoice({ subscription, isFirstInvoiceStale }: LifecycleState): Transition[] {
  // Before anything else of the trial is done, its end too.
  const at = subscription.createdAt;
  return isFirstInvoiceStale ? [{ kind: "first_invoice_replaced", at }] : [];
}

function trialEnd(state: LifecycleState): Transition[] {
  const { subscription } = state;
  const endsAt = subscription.trialEndsAt ?? subscription.currentPeriodEnd;
  if (endsBy(subscription, endsAt)) return [{ kind: "ended", at: endsAt }];
  const { change, interval } = changeOf(state);
  const period = begin(subscription.anchorAt, interval, 0);
  const unpaid = state.invoices.filter(({ status }) => status === "open" || status === "past_due");
  if (unpaid.length === 0) return [{ kind: "activated", at: endsAt, period, change }];
  // Its due day may have been moved behind the trial's end, because nobody could pay while the program was down.
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

/** The oldest debt decides. */
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
    // A due day that was moved since then moves this too.
    held(state, invoice, Math.max(suspendedAt, invoice.dueAt + policy.graceDays * day) + patience),
  );
  return [{ kind: "canceled", at: Math.min(...ends) }];
}

/** Returns the fate of the scheduled plan change at the end of the period, and the billing interval after it. */
function changeOf({ subscription, pendingTerms }: LifecycleState): {
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
  const { anchorAt, periodIndex, currentPeriodEnd: at, terms } = state.subscription;
  if (endsBy(state.subscription, at)) return [{ kind: "ended", at }];
  const { change, interval } = changeOf(state);
  const period =
    interval === terms.interval
      ? begin(anchorAt, interval, periodIndex + 1)
      : begin(at, interval, 0);
  return [{ kind: "renewed", at, period, change }];
}

function resumption(state: LifecycleState): Transition {
  const { subscription, now: at } = state;
  const { anchorAt, periodIndex, currentPeriodEnd, terms } = subscription;
  if (endsBy(subscription, at)) return { kind: "ended", at };
  if (at < currentPeriodEnd) {
    return { kind: "resumed", at, period: null, skipped: 0, change: "none" };
  }
  const index = periodIndexAt(anchorAt, terms.interval, at);
  const { change, interval } = changeOf(state);
  // Another interval is counted from the month that runs: of what passed unserved, nothing is charged.
  const month = periodAt(anchorAt, "month", periodIndexAt(anchorAt, "month", at));
  const period =
    interval === terms.interval
      ? begin(anchorAt, interval, index)
      : begin(month.start, interval, 0);
  return { kind: "resumed", at, period, skipped: index - periodIndex - 1, change };
}

/** Of several reminders that are due at once, the last is sent; those from before the issue never are. */
function reminders(state: LifecycleState): Transition[] {
  const { reminderDays } = state.policy;
  return state.invoices.flatMap((invoice): Transition[] => {
    if (state.inFlight.has(invoice.id)) return [];
    const times = reminderDays.map((days) => invoice.dueAt + days * day);
    const isComing = (at: Instant, place: number) =>
      place >= invoice.remindersSent && at > invoice.issuedAt;
    const passed = times.findLastIndex((at, place) => isComing(at, place) && at <= state.now);
    const place = passed === -1 ? times.findIndex(isComing) : passed;
    const at = times[place];
    if (at === undefined) return [];
    return [{ kind: "reminded", at, invoiceId: invoice.id, remindersSent: place + 1 }];
  });
}

/** What will be void with the trial's end is asked of nobody. */
function trialReminders(state: LifecycleState): Transition[] {
  return state.subscription.cancelAt === null ? reminders(state) : [];
}

function begin(anchorAt: Instant, interval: Interval, index: number): BegunPeriod {
  return { anchorAt, interval, index, ...periodAt(anchorAt, interval, index) };
}
