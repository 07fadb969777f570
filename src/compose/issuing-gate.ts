import type { InTx } from "../app.ts";
import { requireSubscription } from "../features/billing/subscriptions/issuing-gate.ts";
import { unlimited, type IssuingDecision } from "../features/invoices/hooks.ts";
import { lockIssuingShared, requireVerified } from "../features/organizations/issuing.ts";
import type { Id } from "../kernel/id.ts";
import type { Reader } from "../platform/database/database.ts";

/** Requires that an organization is verified, if the settings want that, and then what billing requires. */
export async function mayIssue(
  reader: Reader,
  { config: { verification, billing }, clock }: InTx,
  organizationId: Id<"organization">,
): Promise<IssuingDecision> {
  await requireVerified(reader, organizationId, verification);
  const decision =
    billing === "on" ? await requireSubscription(reader, clock, organizationId) : unlimited;
  return {
    ...decision,
    async grant(tx, at, count) {
      await lockIssuingShared(tx, organizationId, verification);
      return decision.grant(tx, at, count);
    },
  };
}
