import type { Instant } from "../../../kernel/clock.ts";
import { money, type Money } from "../../../kernel/money/money.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Reader } from "../../../platform/database/database.ts";
import { assetOf, overagePriceOf } from "../plans.ts";
import { liveSubscription } from "../store.ts";

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
