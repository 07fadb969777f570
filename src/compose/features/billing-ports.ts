import type { InvoicePaid } from "../../features/billing/lifecycle/apply-payment.ts";
import type { CountStarted } from "../../features/invoices/settlement/settlement.ts";
import type { IssuingGate } from "../../features/invoices/issuing/plan.ts";
import type { PlanInUse } from "../../features/usage/service.ts";
import { Defect } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";

/** Callbacks into billing, which depends on the features that call them. */
export interface BillingPorts {
  /** Requires a subscription before an invoice is issued. */
  requireSubscription: IssuingGate;
  invoicePaid: InvoicePaid;
  /** Counts invoices of links once there is money for them. */
  countStarted: CountStarted;
  planOf: (organizationId: Id<"organization">) => Promise<PlanInUse | null>;
}

/** Returns placeholders that throw until `makeBilling` fills them, because billing is built after their users. */
export function lateBillingPorts(): BillingPorts {
  const tooEarly = (): Promise<never> => Promise.reject(new Defect("billing is not made yet"));
  return {
    requireSubscription: tooEarly,
    invoicePaid: tooEarly,
    countStarted: tooEarly,
    planOf: tooEarly,
  };
}
