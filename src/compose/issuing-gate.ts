import { requireSubscription } from "../features/billing/subscriptions/issuing-gate.ts";
import { unlimited, type IssuingGate } from "../features/invoices/issuing/plan.ts";
import { keepIssuing, requireVerified } from "../features/organizations/issuing.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Config } from "../platform/config/config.ts";

/** Requires that an organization is verified, if the settings want that, and then what billing requires. */
export function issuingGateOf(
  { verification, billing }: Pick<Config, "verification" | "billing">,
  clock: Clock,
): IssuingGate {
  return async (reader, organizationId) => {
    await requireVerified(reader, organizationId, verification);
    const decision =
      billing === "on" ? await requireSubscription(reader, clock, organizationId) : unlimited;
    return {
      ...decision,
      async grant(tx, at, count) {
        await keepIssuing(tx, organizationId, verification);
        return decision.grant(tx, at, count);
      },
    };
  };
}
