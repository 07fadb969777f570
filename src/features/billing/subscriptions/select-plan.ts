import { day, type Instant } from "../../../kernel/clock.ts";
import type { Id, IdSource } from "../../../kernel/id.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import type { Plan } from "../../../platform/config/plans.ts";
import type { Reader, Tx } from "../../../platform/database/database.ts";
import { PlatformInvoiceUnpaid, SubscriptionExists } from "../errors.ts";
import type { Issuer } from "../invoices/issuer.ts";
import { boundary, periodAt } from "../periods.ts";
import { termsOf } from "../plans.ts";
import { requireReceiveWallet } from "../invoices/receive-wallet.ts";
import { debtsOf, liveSubscription, noPlanChange } from "../store.ts";
import { subscriptions, type SubscriptionRow } from "../table.ts";
import type { BillingAnnouncer } from "../announce.ts";

/**
 * Starts a subscription in the caller's transaction and returns it; if a trial of the plan is already running, returns
 * that subscription. Throws `subscription_exists`, `platform_invoice_unpaid`, `no_receive_wallet`, and the errors of
 * issuing a collection invoice.
 */
export type Selection = (
  tx: Tx,
  at: Instant,
  organizationId: Id<"organization">,
  plan: Plan,
) => Promise<SubscriptionRow>;

export function makeSelection(deps: {
  readonly ids: IdSource;
  readonly networks: ReadonlyMap<string, Network>;
  readonly issuer: Issuer;
  readonly announcer: BillingAnnouncer;
  readonly checkoutUrl: (checkoutId: string) => string;
  /** Wakes the billing worker. */
  readonly wake: () => void;
}): Selection {
  const { ids, networks, issuer, announcer, checkoutUrl, wake } = deps;

  async function requireNoDebt(reader: Reader, organizationId: Id<"organization">): Promise<void> {
    const [debt] = await debtsOf(reader, organizationId);
    if (debt === undefined) return;
    const where = debt.twinCheckoutId === null ? "" : ` at ${checkoutUrl(debt.twinCheckoutId)}`;
    throw new PlatformInvoiceUnpaid(`Pay ${debt.number}${where} first, then select a plan again.`);
  }

  return async (tx, at, organizationId, plan) => {
    const live = await liveSubscription(tx, organizationId);
    if (live !== null) {
      if (live.status === "trialing" && live.terms.id === plan.id) return live;
      throw new SubscriptionExists(
        `The organization is on the plan ${live.terms.id} (${live.status}). Change the plan with PATCH …/billing/subscription instead.`,
      );
    }
    await requireNoDebt(tx, organizationId);
    await requireReceiveWallet(tx, networks, plan);
    const former = await tx.findOne(
      subscriptions,
      "WHERE organization_id = $1 AND had_trial = 1 LIMIT 1",
      [organizationId],
    );
    const trialEndsAt = plan.trialDays > 0 && former === null ? at + plan.trialDays * day : null;
    const row = newSubscription(
      ids.next("subscription", at),
      organizationId,
      plan,
      at,
      trialEndsAt,
    );
    await tx.insert(subscriptions, row);
    await issuer.issue(tx, at, {
      subscription: row,
      period: periodAt(row.anchorAt, plan.interval, 0),
      terms: row.terms,
      elapsed: null,
      dueAt: trialEndsAt,
    });
    await announcer.subscription(tx, at, "subscription.created", row);
    tx.afterCommit(wake);
    return row;
  };
}

function newSubscription(
  id: Id<"subscription">,
  organizationId: Id<"organization">,
  plan: Plan,
  at: Instant,
  trialEndsAt: Instant | null,
): SubscriptionRow {
  const isTrial = trialEndsAt !== null;
  const anchorAt = trialEndsAt ?? at;
  return {
    id,
    organizationId,
    anchorAt,
    trialEndsAt,
    status: isTrial ? "trialing" : "active",
    statusReason: null,
    terms: termsOf(plan),
    ...noPlanChange,
    periodIndex: isTrial ? -1 : 0,
    currentPeriodStart: at,
    currentPeriodEnd: trialEndsAt ?? boundary(anchorAt, plan.interval, 1),
    trialNoticeAt: null,
    hadTrial: isTrial,
    usageNotice: 0,
    issuedFrom: null,
    issuedCount: 0,
    suspendedAt: null,
    canceledAt: null,
    cancelAt: null,
    nextActionAt: at,
    parkedAt: null,
    parkReason: null,
    parkedUntil: null,
    parkCount: 0,
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
}
