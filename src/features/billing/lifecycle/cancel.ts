import type { App, InTx } from "../../../app.ts";
import { toIsoOrNull, type Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Tx, WriteContext } from "../../../platform/database/database.ts";
import { NoSubscription, SubscriptionNotChangeable } from "../errors.ts";
import type { Cancellation } from "../operator/admin-records.ts";
import { billingWorkerName } from "../status.ts";
import {
  noPlanChange,
  saveSubscription,
  withLockedSubscription,
  type LockedSubscription,
} from "../store.ts";
import type { SubscriptionRow } from "../table.ts";
import { announceSubscription, noteSubscription } from "../announce.ts";
import { voidPlatformInvoice } from "../invoices/issue.ts";

// Cancels subscriptions for an operator. Debts for periods that have begun remain. The invoice of a period that will
// never begin is voided, even if it is paid: otherwise the block of a payment would decide whether the merchant keeps
// the money.

/**
 * Cancels an organization's subscription, now or at the end of its period, or withdraws a scheduled cancellation.
 * Errors: `no_subscription`, `subscription_not_changeable`.
 */
export function cancelSubscription(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  cancellation: Cancellation,
): Promise<SubscriptionRow> {
  return withLockedSubscription(app, context, organizationId, (tx, locked) => {
    if (locked === null) throw new NoSubscription("This organization never had a subscription.");
    tx.afterCommit(() => app.running?.wake(billingWorkerName));
    return cancelLocked(tx, app, app.clock.now(), locked, cancellation);
  });
}

/**
 * Cancels a locked subscription now, schedules its cancellation for the end of the period, or withdraws a scheduled
 * one. A cancellation drops a scheduled plan change. Throws `subscription_not_changeable` if the subscription is
 * already canceled, or is suspended and so has no period at whose end it could be canceled.
 */
async function cancelLocked(
  tx: Tx,
  app: InTx,
  at: Instant,
  locked: LockedSubscription,
  { when, reason }: Cancellation,
): Promise<SubscriptionRow> {
  const { subscription } = locked;
  const { status, currentPeriodEnd, pendingPlan } = subscription;
  if (status === "canceled")
    throw new SubscriptionNotChangeable("The subscription is already canceled.");
  if (when === "now") {
    // A period that begins at exactly this time has begun.
    return (await endSubscription(tx, app, at, locked, at + 1, { reason })).subscription;
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
  noteSubscription(tx, app, at, "subscription.cancellation_changed", saved, {
    reason,
    cancelAt: { from: toIsoOrNull(subscription.cancelAt), to: toIsoOrNull(cancelAt) },
    ...(cancelAt === null || pendingPlan === null
      ? {}
      : { pendingPlan: { from: pendingPlan, to: null } }),
  });
  return saved;
}

/**
 * Cancels a locked subscription at a period boundary, and voids the invoices of the periods that begin there or later.
 * Returns the updated subscription. `changes` are added to the audit entry.
 */
export async function endSubscription(
  tx: Tx,
  app: InTx,
  at: Instant,
  locked: LockedSubscription,
  boundary: Instant,
  changes: Readonly<Record<string, unknown>> = {},
): Promise<LockedSubscription> {
  const unbegun = [...locked.invoices, ...locked.paidAhead].filter(
    ({ periodStart }) => periodStart >= boundary,
  );
  for (const invoice of unbegun) await voidPlatformInvoice(tx, app, at, invoice, locked);
  const subscription = await saveSubscription(tx, at, locked.subscription, {
    status: "canceled",
    statusReason: "operator",
    canceledAt: at,
    cancelAt: null,
    ...noPlanChange,
    nextActionAt: at,
  });
  await announceSubscription(tx, app, at, "subscription.canceled", subscription, changes);
  return {
    ...locked,
    subscription,
    invoices: locked.invoices.filter((one) => !unbegun.includes(one)),
    paidAhead: locked.paidAhead.filter((one) => !unbegun.includes(one)),
  };
}
