import type { Id } from "../../kernel/id.ts";
import { defineProblem, notFound } from "../../kernel/errors.ts";
import type { Reader } from "../../platform/database/index.ts";
import { sharedLock } from "../../platform/database/shared-lock.ts";
import type { VerificationStatus } from "./rules.ts";

export const OrganizationNotVerified = defineProblem({
  code: "organization_not_verified",
  status: 403,
  title: "The organization is not approved",
});

/**
 * Throws where an organization may not issue invoices, as far as its review goes; where reviews are off, each may. With
 * `isKept` the review is not changed before the transaction ends.
 */
export async function requireVerified(
  reader: Reader,
  organizationId: Id<"organization">,
  verification: "required" | "off",
  isKept = false,
): Promise<void> {
  if (verification === "off") return;
  const [organization] = await reader.all<{ verificationStatus: VerificationStatus }>(
    `SELECT verification_status AS "verificationStatus" FROM organizations WHERE id = $1${isKept ? sharedLock[reader.dialect] : ""}`,
    [organizationId],
  );
  if (organization === undefined) throw notFound();
  if (organization.verificationStatus === "approved") return;
  throw new OrganizationNotVerified(
    `Issuing needs an approved organization, and this one is ${organization.verificationStatus}. Complete the legal fields and submit them for review; drafts can be made meanwhile.`,
  );
}
