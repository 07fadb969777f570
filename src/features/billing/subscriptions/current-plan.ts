import { money } from "../../../kernel/money/money.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Reader } from "../../../platform/database/database.ts";
import type { PlanInUse } from "../../usage/service.ts";
import { assetOf, overagePriceOf } from "../plans.ts";
import { liveSubscription } from "../store.ts";

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
