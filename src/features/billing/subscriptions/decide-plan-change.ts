import type { SubscriptionRow } from "../table.ts";

/**
 * The effect of a request for a plan on a subscription. It never changes the plan or the status:
 *
 * - `scheduled`: the plan becomes the pending one and takes effect at the end of the current period
 * - `cleared`: the plan is the current one, and the scheduled change is dropped
 * - `unchanged`: the plan is already the current one or the pending one
 * - `refused`: the subscription is canceled and has no further period
 */
export type PlanRequestEffect = "scheduled" | "cleared" | "unchanged" | "refused";

export function decidePlanChange(
  subscription: Pick<SubscriptionRow, "status" | "pendingPlan"> & {
    readonly terms: { readonly id: string };
  },
  planId: string,
): PlanRequestEffect {
  const { status, pendingPlan, terms } = subscription;
  if (status === "canceled") return "refused";
  if (planId === terms.id) return pendingPlan === null ? "unchanged" : "cleared";
  return planId === pendingPlan ? "unchanged" : "scheduled";
}
