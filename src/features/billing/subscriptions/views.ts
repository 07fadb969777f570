import { checkoutUrl, type InTx } from "../../../app.ts";
import type { Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import { money, type Money } from "../../../kernel/money/money.ts";
import type { Reader } from "../../../platform/database/database.ts";
import { listed } from "../../../platform/database/query/json-rows.ts";
import { assetOf, overagePriceOf } from "../plans.ts";
import type { SubscriptionView } from "../records.ts";
import { liveSubscription, unpaidOf } from "../store.ts";
import { subscriptions, type PlatformInvoiceRow, type SubscriptionRow } from "../table.ts";

/** Returns the last subscription of each organization, canceled ones included. */
export async function subscriptionsOf(
  reader: Reader,
  app: InTx,
  organizationIds: readonly Id<"organization">[],
): Promise<ReadonlyMap<Id<"organization">, SubscriptionView>> {
  if (organizationIds.length === 0) return new Map();
  const rows = await reader.find(
    subscriptions,
    `WHERE organization_id IN ${listed(reader.dialect, 1)} ORDER BY id`,
    [JSON.stringify(organizationIds)],
  );
  const latest = new Map(rows.map((row) => [row.organizationId, row]));
  const shown = [...latest.values()];
  const owed = await unpaidOf(
    reader,
    shown.map(({ id }) => id),
  );
  return new Map(
    shown.map((subscription) => {
      const openInvoice = owed.find((one) => one.subscriptionId === subscription.id) ?? null;
      return [subscription.organizationId, viewOf(app, subscription, openInvoice)];
    }),
  );
}

/** Returns a subscription with its unpaid invoice. */
export async function viewSubscription(
  reader: Reader,
  app: InTx,
  subscription: SubscriptionRow,
): Promise<SubscriptionView> {
  const [openInvoice = null] = await unpaidOf(reader, [subscription.id]);
  return viewOf(app, subscription, openInvoice);
}

function viewOf(
  app: InTx,
  subscription: SubscriptionRow,
  openInvoice: PlatformInvoiceRow | null,
): SubscriptionView {
  const url = openInvoice === null ? null : checkoutUrl(app, openInvoice.twinCheckoutId ?? "");
  return { subscription, openInvoice, checkoutUrl: url };
}

/** The parts of an organization's plan that concern usage. */
export interface PlanInUse {
  readonly id: string;
  /** From `from`, inclusive, to `to`, exclusive. */
  readonly period: { readonly from: Instant; readonly to: Instant };
  /** Null for an unlimited number. */
  readonly invoicesIncluded: number | null;
  /** Price of each further invoice in this period; zero if free. Its asset is the plan's currency. */
  readonly overagePrice: Money;
}

/**
 * Returns the period, included invoices and overage price of an organization's plan; null without a subscription.
 * During a trial the overage price is zero.
 */
export async function planInUse(
  reader: Reader,
  organizationId: Id<"organization">,
): Promise<PlanInUse | null> {
  const live = await liveSubscription(reader, organizationId);
  if (live === null) return null;
  const { terms, periodIndex, currentPeriodStart, currentPeriodEnd } = live;
  const price = periodIndex < 0 ? 0n : (overagePriceOf(terms) ?? 0n);
  return {
    id: terms.id,
    period: { from: currentPeriodStart, to: currentPeriodEnd },
    invoicesIncluded: terms.includedInvoices,
    overagePrice: money(price, assetOf(terms)),
  };
}
