import type { ManagedSettled } from "../features/billing/index.ts";
import type { IssuingGate } from "../features/invoices/index.ts";
import type { PlanInUse } from "../features/usage/index.ts";
import { Defect } from "../kernel/errors.ts";
import type { Id } from "../kernel/id.ts";

/** What the features before billing ask of it. */
export interface BillingPorts {
  /** The gate on issuing, as far as the organization's subscription goes. */
  requireSubscription: IssuingGate;
  managedSettled: ManagedSettled;
  planOf: (organizationId: Id<"organization">) => Promise<PlanInUse | null>;
}

/** The ports while billing is not made yet, which is made of the features that have them; `makeBilling` fills them. */
export function lateBillingPorts(): BillingPorts {
  const tooEarly = (): Promise<never> => Promise.reject(new Defect("billing is not made yet"));
  return { requireSubscription: tooEarly, managedSettled: tooEarly, planOf: tooEarly };
}
