import type { Clock, Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import type { Reader, Tx } from "../../platform/database/index.ts";
import { listed } from "../../platform/database/json-rows.ts";
import type { Subscriber } from "../../platform/events/relay.ts";
import {
  countIssued,
  countIssuedOf,
  PlanLimitReached,
  SubscriptionRequired,
  SubscriptionSuspended,
} from "../invoices/index.ts";
import { platformOrganization } from "../organizations/index.ts";
import { liveSubscription } from "./subscription-store.ts";
import { subscriptions, type SubscriptionRow } from "./table.ts";
import { usageReached, type Teller } from "./tell.ts";

/**
 * Throws where an organization may not issue an invoice, as far as its subscription goes: `subscription_required`,
 * `subscription_suspended`, `plan_limit_reached`. The platform's own organization needs none.
 */
export async function requireSubscription(
  reader: Reader,
  clock: Clock,
  organizationId: Id<"organization">,
): Promise<void> {
  const live = await liveSubscription(reader, organizationId);
  if (live?.status === "suspended") {
    throw new SubscriptionSuspended(
      "Issuing stopped because a platform invoice is unpaid. Read GET …/billing/subscription and pay its openInvoice; invoices that are open stay payable.",
    );
  }
  if (live !== null) {
    await requireRoom(reader, live, clock.now());
    return;
  }
  if ((await platformOrganization(reader))?.id === organizationId) return;
  throw new SubscriptionRequired(
    "Select a plan with POST …/billing/subscription/select; GET /billing/plans lists them. Drafts can be made meanwhile.",
  );
}

/** A plan that sells nothing beyond what it includes ends there, until the next period. */
async function requireRoom(reader: Reader, live: SubscriptionRow, now: Instant): Promise<void> {
  const { includedInvoices, overagePrice } = live.terms;
  if (includedInvoices === null || overagePrice !== null) return;
  const { organizationId, currentPeriodStart, currentPeriodEnd } = live;
  const to = Math.max(currentPeriodEnd, now + 1);
  const from = now < currentPeriodEnd ? currentPeriodStart : currentPeriodEnd;
  const issued = await countIssued(reader, organizationId, from, to, includedInvoices);
  if (issued < includedInvoices) return;
  throw new PlanLimitReached(
    `The plan ${live.terms.name} includes ${String(includedInvoices)} invoices in a period, and all are issued. Change the plan, or wait for the next period.`,
  );
}

const issuing = new Set(["invoice.created", "invoice.issued"]);

/** Tells organizations that most, or all, of what their plan includes is used, once in a period for each. */
export function makeUsageWatch({
  clock,
  teller,
}: {
  readonly clock: Clock;
  readonly teller: Pick<Teller, "usage">;
}): Subscriber {
  return async (tx, relayed) => {
    const issuers = new Set(
      relayed.filter(({ type }) => issuing.has(type)).map(({ organizationId }) => organizationId),
    );
    if (issuers.size === 0) return;
    const watched = await tx.find(
      subscriptions,
      `WHERE organization_id IN ${listed(tx.dialect, 1)} AND status <> 'canceled' AND usage_notice < 100
       ORDER BY id`,
      [JSON.stringify([...issuers])],
    );
    const windows = watched.map(({ organizationId, currentPeriodStart, currentPeriodEnd }) => ({
      ...{ organizationId, from: currentPeriodStart, to: currentPeriodEnd },
    }));
    const counts = await countIssuedOf(tx, windows);
    for (const subscription of watched) {
      await tell(tx, subscription, counts.get(subscription.organizationId) ?? 0);
    }
  };

  async function tell(tx: Tx, subscription: SubscriptionRow, used: number): Promise<void> {
    const { id, usageNotice, currentPeriodStart } = subscription;
    const reached = usageReached(subscription, used);
    if (reached <= usageNotice) return;
    const changed = await tx.update(
      subscriptions,
      { usageNotice: reached },
      "WHERE id = $1 AND usage_notice = $2 AND current_period_start = $3",
      [id, usageNotice, currentPeriodStart],
    );
    if (changed === 1) teller.usage(tx, clock.now(), subscription, used);
  }
}
