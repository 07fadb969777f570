import { findCurrency, type Asset } from "../../kernel/asset.ts";
import { Defect } from "../../kernel/errors.ts";
import { parseMoney } from "../../kernel/money.ts";
import { divideRounded, powerOfTen } from "../../kernel/ratio.ts";
import type { BillingPolicy, Plan, PlanCatalog } from "../../platform/config/index.ts";

/** A plan as a subscription keeps it from its beginning. */
export type Terms = Omit<Plan, "description" | "policy">;

export function findPlan(catalog: PlanCatalog, planId: string): Plan | null {
  return catalog.plans.find(({ id }) => id === planId) ?? null;
}

/** What is kept of a plan that begins. */
export function termsOf(plan: Plan): Terms {
  const { description: _description, policy: _policy, ...terms } = plan;
  return terms;
}

/**
 * The terms that a scheduled plan change brings: those that were kept when it was requested. A change that an older
 * version of Till scheduled kept none and takes the catalog's; null where the catalog has that plan no more, or bills it
 * in another currency, and where no change is scheduled.
 */
export function pendingTermsOf(
  catalog: PlanCatalog,
  subscription: {
    readonly terms: Terms;
    readonly pendingPlan: string | null;
    readonly pendingTerms: Terms | null;
  },
): Terms | null {
  const { terms, pendingPlan, pendingTerms } = subscription;
  if (pendingPlan === null || pendingTerms !== null) return pendingTerms;
  const plan = findPlan(catalog, pendingPlan);
  return plan?.currency === terms.currency ? termsOf(plan) : null;
}

/** How a plan's money is collected; of a plan that is not in the catalog any more, as that of all. */
export function policyOf(catalog: PlanCatalog, planId: string): BillingPolicy {
  return findPlan(catalog, planId)?.policy ?? catalog.policy;
}

/** The currency of a plan: the catalog holds none without one. */
export function assetOf(terms: Pick<Terms, "currency">): Asset {
  const asset = findCurrency(terms.currency);
  if (asset === null) throw new Defect(`${terms.currency} is no currency`);
  return asset;
}

/** The price of a plan in the smallest units of its currency. */
export function priceOf(terms: Pick<Terms, "price" | "currency">): bigint {
  return parseMoney(terms.price, assetOf(terms)).units;
}

/** What an invoice beyond those included costs; null: there are none. */
export function overagePriceOf(terms: Pick<Terms, "overagePrice" | "currency">): bigint | null {
  const { overagePrice } = terms;
  return overagePrice === null ? null : parseMoney(overagePrice, assetOf(terms)).units;
}

/** The decimals in which the catalog writes what is too little to collect. */
const minCollectableDecimals = 2;

/** The smallest total that is asked for, in the smallest units of a currency of so many decimals. */
export function minCollectableOf(policy: BillingPolicy, decimals: number): bigint {
  const [whole = "0", fraction = ""] = policy.minCollectable.split(".");
  const scaled = BigInt(whole + fraction.padEnd(minCollectableDecimals, "0"));
  const scale = powerOfTen(minCollectableDecimals);
  return divideRounded(scaled * powerOfTen(decimals), scale, "up");
}
