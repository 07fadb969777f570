import { bind, type Bound } from "../../../kernel/bind.ts";
import { toIso, type Instant } from "../../../kernel/clock.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { SubscriptionNotChangeable } from "../errors.ts";
import { noPlanChange, saveSubscription, type LockedSubscription } from "../store.ts";
import type { SubscriptionRow } from "../table.ts";
import type { BillingAnnouncer } from "../announce.ts";
import type { VoidInvoice } from "../invoices/void.ts";

/** When an operator's cancellation takes effect; `never` withdraws a scheduled one. */
export const cancelTimes = ["now", "period_end", "never"] as const;
export type CancelTime = (typeof cancelTimes)[number];

export interface Cancellation {
  readonly when: CancelTime;
  /** Recorded in the audit log. */
  readonly reason: string;
}

/**
 * Cancels subscriptions for an operator. Debts for periods that have begun remain. The invoice of a period that will
 * never begin is voided, even if it is paid: otherwise the block of a payment would decide whether the merchant keeps
 * the money.
 */
export type Cancellations = Bound<typeof methods>;

interface Deps {
  readonly announcer: BillingAnnouncer;
  readonly voidInvoice: VoidInvoice;
}

const methods = { cancel, end };

export function makeCancellations(deps: Deps): Cancellations {
  return bind(deps, methods);
}

/**
 * Cancels a locked subscription now, schedules its cancellation for the end of the period, or withdraws a scheduled
 * one. A cancellation drops a scheduled plan change. Throws `subscription_not_changeable` if the subscription is
 * already canceled, or is suspended and so has no period at whose end it could be canceled.
 */
async function cancel(
  deps: Deps,
  tx: Tx,
  at: Instant,
  locked: LockedSubscription,
  { when, reason }: Cancellation,
): Promise<SubscriptionRow> {
  const { announcer } = deps;
  const { subscription } = locked;
  const { status, currentPeriodEnd, pendingPlan } = subscription;
  if (status === "canceled")
    throw new SubscriptionNotChangeable("The subscription is already canceled.");
  if (when === "now") {
    // A period that begins at exactly this time has begun.
    return (await endAt(deps, tx, at, locked, at + 1, { reason })).subscription;
  }
  if (status === "suspended" && when === "period_end") {
    throw new SubscriptionNotChangeable(
      "The subscription is suspended and has no current period. Cancel it now, or leave it: it is canceled if the debt stays unpaid.",
    );
  }
  const cancelAt = when === "never" ? null : currentPeriodEnd;
  if (cancelAt === subscription.cancelAt) return subscription;
  const saved = await saveSubscription(tx, at, subscription, {
    cancelAt,
    nextActionAt: at,
    // A scheduled cancellation overrides a scheduled plan change.
    ...(cancelAt === null ? {} : noPlanChange),
  });
  const isoOf = (time: Instant | null) => (time === null ? null : toIso(time));
  announcer.note(tx, at, "subscription.cancellation_changed", saved, {
    reason,
    cancelAt: { from: isoOf(subscription.cancelAt), to: isoOf(cancelAt) },
    ...(cancelAt === null || pendingPlan === null
      ? {}
      : { pendingPlan: { from: pendingPlan, to: null } }),
  });
  return saved;
}

/** Performs a scheduled cancellation at its period boundary; returns the updated subscription. */
function end(
  deps: Deps,
  tx: Tx,
  at: Instant,
  locked: LockedSubscription,
  boundary: Instant,
): Promise<LockedSubscription> {
  return endAt(deps, tx, at, locked, boundary, {});
}

async function endAt(
  { announcer, voidInvoice }: Deps,
  tx: Tx,
  at: Instant,
  locked: LockedSubscription,
  boundary: Instant,
  changes: Readonly<Record<string, unknown>>,
): Promise<LockedSubscription> {
  const unbegun = [...locked.invoices, ...locked.paidAhead].filter(
    ({ periodStart }) => periodStart >= boundary,
  );
  for (const invoice of unbegun) await voidInvoice(tx, at, invoice, locked);
  const subscription = await saveSubscription(tx, at, locked.subscription, {
    status: "canceled",
    statusReason: "operator",
    canceledAt: at,
    cancelAt: null,
    ...noPlanChange,
    nextActionAt: at,
  });
  await announcer.subscription(tx, at, "subscription.canceled", subscription, changes);
  return {
    ...locked,
    subscription,
    invoices: locked.invoices.filter((one) => !unbegun.includes(one)),
    paidAhead: locked.paidAhead.filter((one) => !unbegun.includes(one)),
  };
}
