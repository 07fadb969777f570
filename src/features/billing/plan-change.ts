import type { Instant } from "../../kernel/clock.ts";
import type { SubscriptionRow, PlatformInvoiceRow } from "./table.ts";

/** What another plan does to a subscription. */
export type PlanChange =
  /** It is asked for what it has, or what is coming already. */
  | { readonly kind: "unchanged" }
  /** Back to the plan that it has: what was coming is not any more. */
  | { readonly kind: "cleared" }
  | { readonly kind: "scheduled"; readonly effectiveAt: Instant }
  /** In a trial whose first invoice nobody began to pay: that one is voided, and its successor is for the new plan. */
  | { readonly kind: "reissued" }
  /** A trial without an invoice: the new plan is tried from now on. */
  | { readonly kind: "replaced" }
  /** A suspended or canceled subscription is not changed. */
  | { readonly kind: "refused" };

/**
 * Decides a change of plan. `firstInvoice` is the invoice of the period that the trial leads to, and `hasPayments` tells
 * whether any payment for it was ever seen, whatever became of it.
 */
export function decidePlanChange(
  subscription: Pick<SubscriptionRow, "status" | "pendingPlan" | "currentPeriodEnd"> & {
    readonly terms: { readonly id: string };
  },
  planId: string,
  firstInvoice: Pick<PlatformInvoiceRow, "status" | "periodEnd"> | null,
  hasPayments: boolean,
): PlanChange {
  const { status, pendingPlan, terms, currentPeriodEnd } = subscription;
  if (status === "suspended" || status === "canceled") return { kind: "refused" };
  if (planId === terms.id) return { kind: pendingPlan === null ? "unchanged" : "cleared" };
  if (planId === pendingPlan) return { kind: "unchanged" };
  if (status !== "trialing") return { kind: "scheduled", effectiveAt: currentPeriodEnd };
  if (firstInvoice === null) return { kind: "replaced" };
  if (firstInvoice.status === "open" && !hasPayments) return { kind: "reissued" };
  return { kind: "scheduled", effectiveAt: firstInvoice.periodEnd };
}
