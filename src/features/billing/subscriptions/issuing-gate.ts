import type { Clock, Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Reader, Tx } from "../../../platform/database/database.ts";
import { listed } from "../../../platform/database/query/json-rows.ts";
import { countUsed } from "../../invoices/store.ts";
import {
  PlanLimitReached,
  SubscriptionRequired,
  SubscriptionSuspended,
} from "../../invoices/errors.ts";
import {
  unlimited,
  type Grant,
  type InvoiceHooks,
  type IssuingDecision,
} from "../../invoices/hooks.ts";
import { platformOrganization } from "../../organizations/store.ts";
import { liveSubscription } from "../store.ts";
import { subscriptions, type SubscriptionRow } from "../table.ts";

/**
 * Checks whether an organization's subscription allows it to issue an invoice. Throws `subscription_required`,
 * `subscription_suspended` or `plan_limit_reached`; the platform organization needs no subscription. The returned
 * decision repeats the check in the issuing transaction, on the subscription as it is then, and counts the invoices if
 * the plan has a limit.
 */
export async function requireSubscription(
  reader: Reader,
  clock: Clock,
  organizationId: Id<"organization">,
): Promise<IssuingDecision> {
  const seen = await liveSubscription(reader, organizationId);
  if (seen === null) {
    await requirePlatform(reader, organizationId);
    return unlimited;
  }
  requireServed(seen);
  const limit = limitOf(seen);
  if (limit !== null)
    requireRoom(
      seen,
      limit,
      seen.issuedFrom === windowAt(seen, clock.now()) ? seen.issuedCount : 0,
    );
  return {
    async grant(tx, at, count) {
      // Usually nothing has changed since the check, and one statement is enough.
      const isUnchanged =
        limit === null ? await lockUnchanged(tx, seen) : await countAll(tx, seen, limit, at, count);
      return isUnchanged
        ? { count, isCounted: limit !== null }
        : decideAnew(tx, at, organizationId, count);
    },
    giveBack: (tx, count) => giveBack(tx, organizationId, count),
  };
}

async function requirePlatform(reader: Reader, organizationId: Id<"organization">): Promise<void> {
  if ((await platformOrganization(reader))?.id === organizationId) return;
  throw new SubscriptionRequired(
    "Select a plan with POST …/billing/subscription/select; GET /billing/plans lists the plans. Drafts need no plan.",
  );
}

function requireServed({ status }: SubscriptionRow): void {
  if (status !== "suspended") return;
  throw new SubscriptionSuspended(
    "New invoices are refused because a platform invoice is unpaid. Pay the `openInvoice` of GET …/billing/subscription; invoices that are already open stay payable.",
  );
}

/** Returns how many invoices may be issued in a period; null: unlimited, possibly with overage. */
export function limitOf({ terms }: Pick<SubscriptionRow, "terms">): number | null {
  return terms.overagePrice === null ? terms.includedInvoices : null;
}

/**
 * Returns the start of the period in which an invoice issued now counts. That is the next period if its boundary has
 * passed but has not been processed yet.
 */
function windowAt(subscription: SubscriptionRow, at: Instant): Instant {
  const { currentPeriodStart, currentPeriodEnd } = subscription;
  return at < currentPeriodEnd ? currentPeriodStart : currentPeriodEnd;
}

function requireRoom({ terms }: SubscriptionRow, limit: number, issued: number): void {
  if (issued < limit) return;
  throw new PlanLimitReached(
    `The plan ${terms.name} includes ${String(limit)} invoices per period, and all of them have been issued. Wait for the next period; a plan change takes effect then too.`,
  );
}

/**
 * Returns whether a subscription is unchanged since it was read; if so, locks it against changes until the transaction
 * ends.
 */
async function lockUnchanged(tx: Tx, { id, version }: SubscriptionRow): Promise<boolean> {
  const rows = await tx.lockShared(
    "SELECT 1 AS found FROM subscriptions WHERE id = $1 AND version = $2",
    [id, version],
  );
  return rows.length === 1;
}

/**
 * Counts invoices if the subscription is unchanged since it was read and its period has room for all of them; returns
 * whether it did.
 */
async function countAll(
  tx: Tx,
  seen: SubscriptionRow,
  limit: number,
  at: Instant,
  count: number,
): Promise<boolean> {
  const counted = await tx.run(
    `UPDATE subscriptions SET issued_count = issued_count + $5
     WHERE id = $1 AND version = $2 AND issued_from = $3 AND issued_count <= $4`,
    // An invoice that counts later needs room too.
    [seen.id, seen.version, windowAt(seen, at), limit - Math.max(count, 1), count],
  );
  return counted === 1;
}

/**
 * Repeats the check on the locked subscription, and counts as many of the invoices as the period has room for. The first
 * invoice of a period starts the count from the stored invoices.
 */
async function decideAnew(
  tx: Tx,
  at: Instant,
  organizationId: Id<"organization">,
  count: number,
): Promise<Grant> {
  const live = await lockLive(tx, organizationId);
  if (live === null) {
    await requirePlatform(tx, organizationId);
    return { count, isCounted: false };
  }
  requireServed(live);
  const limit = limitOf(live);
  if (limit === null) return { count, isCounted: false };
  const issuedFrom = windowAt(live, at);
  const issued =
    live.issuedFrom === issuedFrom
      ? live.issuedCount
      : await countUsed(tx, organizationId, issuedFrom, at + 1, limit);
  requireRoom(live, limit, issued);
  const granted = Math.min(count, limit - issued);
  await tx.update(subscriptions, { issuedFrom, issuedCount: issued + granted }, "WHERE id = $1", [
    live.id,
  ]);
  return { count: granted, isCounted: true };
}

/**
 * Counts invoices that payers started at links, because money for them is seen, also beyond the plan's limit: what was
 * issued is always credited. A count is taken back if a reorganization removed the money, unless its period has been
 * billed, so that no invoice counts twice. Locks the subscriptions.
 */
export const countStarted: InvoiceHooks["countStarted"] = async (tx, at, started) => {
  const owners = [...new Set(started.map(({ organizationId }) => organizationId))];
  const locked = await tx.lock(
    subscriptions,
    `WHERE organization_id IN ${listed(tx.dialect, 1)} AND status <> 'canceled' ORDER BY id`,
    [JSON.stringify(owners)],
  );
  const live = new Map(locked.map((row) => [row.organizationId, row]));
  const added = new Map<SubscriptionRow, number>();
  const times = started.map(({ organizationId, countedAt }) => {
    const subscription = live.get(organizationId);
    const from = subscription?.currentPeriodStart ?? 0;
    if (countedAt !== null && countedAt < from) return countedAt;
    const counted = countedAt ?? Math.max(at, from);
    if (subscription !== undefined && subscription.issuedFrom === windowAt(subscription, counted)) {
      const change = countedAt === null ? 1 : -1;
      added.set(subscription, (added.get(subscription) ?? 0) + change);
    }
    return countedAt === null ? counted : null;
  });
  await tx.updateMany(
    subscriptions,
    [...added]
      .filter(([row, change]) => limitOf(row) !== null && change !== 0)
      .map(([{ id, issuedCount }, change]) => ({
        where: { id },
        set: { issuedCount: issuedCount + change },
      })),
  );
  return times;
};

/** Takes invoices that the same transaction has counted out of the count. */
async function giveBack(tx: Tx, organizationId: Id<"organization">, count: number): Promise<void> {
  const live = await lockLive(tx, organizationId);
  if (live === null) return;
  const issuedCount = live.issuedCount - count;
  await tx.update(subscriptions, { issuedCount }, "WHERE id = $1", [live.id]);
}

function lockLive(tx: Tx, organizationId: Id<"organization">): Promise<SubscriptionRow | null> {
  return tx.lockOne(subscriptions, "WHERE organization_id = $1 AND status <> 'canceled'", [
    organizationId,
  ]);
}
