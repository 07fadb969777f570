import { toIso, type Instant } from "../../../kernel/clock.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import type { Reader, Tx } from "../../../platform/database/database.ts";
import { PlanCurrencyDiffers, SubscriptionNotChangeable } from "../errors.ts";
import type { FirstInvoices } from "../invoices/first-invoice.ts";
import { decidePlanChange } from "./decide-plan-change.ts";
import type { Terms } from "../plans.ts";
import { requireReceiveWallet } from "../invoices/receive-wallet.ts";
import { noPlanChange, saveSubscription, type LockedSubscription } from "../store.ts";
import type { SubscriptionRow } from "../table.ts";
import type { BillingAnnouncer } from "../announce.ts";

/**
 * Schedules a plan for the end of the current period of a locked subscription, or drops the scheduled change if the
 * plan is the current one. During a trial, also replaces the unpaid first invoice if needed. Returns the updated
 * subscription. Throws `subscription_not_changeable`, `plan_currency_differs`, `no_receive_wallet`, and the errors of
 * issuing an invoice.
 */
export type PlanChanges = (
  tx: Tx,
  at: Instant,
  locked: LockedSubscription,
  plan: Terms,
) => Promise<SubscriptionRow>;

export function makePlanChanges(deps: {
  readonly networks: ReadonlyMap<string, Network>;
  readonly firstInvoices: Pick<FirstInvoices, "align">;
  readonly announcer: BillingAnnouncer;
}): PlanChanges {
  const { networks, firstInvoices, announcer } = deps;

  async function requireBillable(
    reader: Reader,
    { terms }: SubscriptionRow,
    plan: Terms,
  ): Promise<void> {
    if (plan.currency !== terms.currency) {
      throw new PlanCurrencyDiffers(
        `The subscription is billed in ${terms.currency}. Choose a plan in that currency.`,
      );
    }
    await requireReceiveWallet(reader, networks, plan);
  }

  return async (tx, at, locked, plan) => {
    const { subscription } = locked;
    const { cancelAt, pendingPlan, currentPeriodEnd } = subscription;
    const decided = decidePlanChange(subscription, plan.id);
    if (decided === "refused") {
      throw new SubscriptionNotChangeable(
        "The subscription is canceled. Select a plan with POST …/billing/subscription/select instead.",
      );
    }
    if (decided === "ending") {
      throw new SubscriptionNotChangeable(
        `The platform has scheduled its cancellation for ${toIso(cancelAt ?? at)}. Ask the platform to withdraw that first.`,
      );
    }
    if (decided === "unchanged") return subscription;
    const isScheduled = decided === "scheduled";
    if (isScheduled) await requireBillable(tx, subscription, plan);
    const pending = isScheduled
      ? { pendingPlan: plan.id, pendingTerms: plan, planChangeEffectiveAt: currentPeriodEnd }
      : noPlanChange;
    const saved = await saveSubscription(tx, at, subscription, { ...pending, nextActionAt: at });
    await firstInvoices.align(tx, at, { ...locked, subscription: saved }, plan);
    const type = isScheduled
      ? "subscription.plan_change_scheduled"
      : "subscription.plan_change_dropped";
    const changes = { pendingPlan: { from: pendingPlan, to: saved.pendingPlan } };
    await announcer.subscription(tx, at, type, saved, changes);
    return saved;
  };
}
