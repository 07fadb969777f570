import type { SubscriptionRow } from "../table.ts";

/**
 * The effect of a request for a plan on a subscription. It never changes the plan or the status:
 *
 * - `scheduled`: the plan becomes the pending one and takes effect at the end of the current period
 * - `cleared`: the plan is the current one, and the scheduled change is dropped
 * - `unchanged`: the plan is already the current one or the pending one
 * - `refused`: the subscription is canceled and has no further period
 * - `ending`: also refused, because the platform has scheduled the subscription's cancellation
 */
export type PlanRequestEffect = "scheduled" | "cleared" | "unchanged" | "refused" | "ending";

export function decidePlanChange(
  subscription: Pick<SubscriptionRow, "status" | "pendingPlan" | "cancelAt"> & {
    readonly terms: { readonly id: string };
  },
  planId: string,
): PlanRequestEffect {
  const { status, pendingPlan, cancelAt, terms } = subscription;
  if (status === "canceled") return "refused";
  if (cancelAt !== null) return "ending";
  if (planId === terms.id) return pendingPlan === null ? "unchanged" : "cleared";
  return planId === pendingPlan ? "unchanged" : "scheduled";
}
