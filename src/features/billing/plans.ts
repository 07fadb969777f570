import { findCurrency, parseMoney, type Asset } from "../../kernel/money/money.ts";
import { Defect } from "../../kernel/errors.ts";
import { divideRounded, powerOfTen } from "../../kernel/money/ratio.ts";
import type { BillingPolicy, Plan, PlanCatalog } from "../../platform/config/plans.ts";

/** The copy of a plan that a subscription keeps. */
export type Terms = Omit<Plan, "description" | "policy">;

export function findPlan(catalog: PlanCatalog, planId: string): Plan | null {
  return catalog.plans.find(({ id }) => id === planId) ?? null;
}

/** Returns the copy of a plan that a subscription keeps. */
export function termsOf(plan: Plan): Terms {
  const { description: _description, policy: _policy, ...terms } = plan;
  return terms;
}

/**
 * Returns the terms of the scheduled plan change, as stored when it was requested. A change that an older version of
 * Till scheduled has none stored and takes those of the catalog. Null if no change is scheduled, or if the catalog no
 * longer has the plan of such an older change or bills it in another currency.
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

/** Returns the collection policy of a plan; the catalog's general policy if the plan is no longer in the catalog. */
export function policyOf(catalog: PlanCatalog, planId: string): BillingPolicy {
  return findPlan(catalog, planId)?.policy ?? catalog.policy;
}

/** Returns the currency of a plan. The catalog accepts known currencies only. */
export function assetOf(terms: Pick<Terms, "currency">): Asset {
  const asset = findCurrency(terms.currency);
  if (asset === null) throw new Defect(`${terms.currency} is not a currency`);
  return asset;
}

/** Returns the price of a plan in the smallest units of its currency. */
export function priceOf(terms: Pick<Terms, "price" | "currency">): bigint {
  return parseMoney(terms.price, assetOf(terms)).units;
}

/** Returns the price of an invoice beyond the included ones, in smallest units; null: the plan allows none. */
export function overagePriceOf(terms: Pick<Terms, "overagePrice" | "currency">): bigint | null {
  const { overagePrice } = terms;
  return overagePrice === null ? null : parseMoney(overagePrice, assetOf(terms)).units;
}

/** The maximum number of decimals of `minCollectable` in the catalog. */
const minCollectableDecimals = 2;

/**
 * Returns the smallest total that is collected, in the smallest units of a currency with these decimals, rounded up.
 */
export function minCollectableOf(policy: BillingPolicy, decimals: number): bigint {
  const [whole = "0", fraction = ""] = policy.minCollectable.split(".");
  const scaled = BigInt(whole + fraction.padEnd(minCollectableDecimals, "0"));
  const scale = powerOfTen(minCollectableDecimals);
  return divideRounded(scaled * powerOfTen(decimals), scale, "up");
}
