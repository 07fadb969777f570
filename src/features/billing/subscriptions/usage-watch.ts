import type { z } from "zod";
import type { InTx } from "../../../app.ts";
import { toIso, type Instant } from "../../../kernel/clock.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { listed } from "../../../platform/database/query/json-rows.ts";
import type { Subscriber } from "../../../platform/events/outbox.ts";
import { countUsedOf } from "../../invoices/store.ts";
import type { UsageThresholdRecord } from "../records.ts";
import { subscriptions, type SubscriptionRow } from "../table.ts";

/** Usage thresholds in percent of the included invoices, highest first. */
const thresholds = [100, 80] as const;

/** The events after which more invoices may count: those of an issue, and those of money for an invoice of a link. */
const counting = new Set([
  "invoice.created",
  "invoice.issued",
  "invoice.partially_paid",
  "invoice.confirming",
  "invoice.paid",
  "invoice.payment_detected",
]);

/**
 * Emits `usage.threshold_reached` when 80 or 100 percent of a plan's included invoices are used, once per period for
 * each threshold.
 */
export async function watchUsage(
  tx: Tx,
  app: InTx,
  relayed: Parameters<Subscriber>[1],
): Promise<void> {
  const issuers = new Set(
    relayed.filter(({ type }) => counting.has(type)).map(({ organizationId }) => organizationId),
  );
  if (issuers.size === 0) return;
  const watched = await tx.find(
    subscriptions,
    `WHERE organization_id IN ${listed(tx.dialect, 1)} AND status <> 'canceled' AND usage_notice < 100
     ORDER BY id`,
    [JSON.stringify([...issuers])],
  );
  const windows = watched.map(({ organizationId, currentPeriodStart, currentPeriodEnd }) => ({
    organizationId,
    from: currentPeriodStart,
    to: currentPeriodEnd,
  }));
  const counts = await countUsedOf(tx, windows);
  for (const subscription of watched) {
    await warn(tx, app, subscription, counts.get(subscription.organizationId) ?? 0);
  }
}

/**
 * Emits `usage.threshold_reached` if `used` issued invoices reach a threshold that was not reported in this period
 * yet.
 */
export function announceUsage(
  tx: Tx,
  { journal }: InTx,
  at: Instant,
  row: SubscriptionRow,
  used: number,
): void {
  const { id, organizationId, terms, usageNotice, version } = row;
  const percent = usageReached(row, used);
  if (percent <= usageNotice || terms.includedInvoices === null) return;
  const data: z.input<typeof UsageThresholdRecord> = {
    organizationId,
    subscriptionId: id,
    plan: terms.id,
    percent,
    invoicesCreated: used,
    invoicesIncluded: terms.includedInvoices,
    periodStart: toIso(row.currentPeriodStart),
    periodEnd: toIso(row.currentPeriodEnd),
  };
  journal.record(tx, at, {
    organizationId,
    subjectType: "subscription",
    subjectId: id,
    events: { types: ["usage.threshold_reached"], version, data },
  });
}

async function warn(tx: Tx, app: InTx, subscription: SubscriptionRow, used: number): Promise<void> {
  const { id, usageNotice, currentPeriodStart } = subscription;
  const reached = usageReached(subscription, used);
  if (reached <= usageNotice) return;
  const changed = await tx.update(
    subscriptions,
    { usageNotice: reached },
    "WHERE id = $1 AND usage_notice = $2 AND current_period_start = $3",
    [id, usageNotice, currentPeriodStart],
  );
  if (changed === 1) announceUsage(tx, app, app.clock.now(), subscription, used);
}

/** Returns the highest threshold that `used` issued invoices reach, in percent; 0: none. */
export function usageReached(
  { terms }: Pick<SubscriptionRow, "terms">,
  used: number,
): 0 | (typeof thresholds)[number] {
  const { includedInvoices: included } = terms;
  if (included === null || included === 0) return 0;
  return thresholds.find((percent) => used * 100 >= included * percent) ?? 0;
}
