import type { Id } from "../../kernel/id.ts";
import { defineProblem, notFound } from "../../kernel/errors.ts";
import { OrganizationSuspended, suspendedAdvice } from "../../http/declare/problems.ts";
import type { Reader, Tx } from "../../platform/database/database.ts";
import type { OrganizationRow } from "./store.ts";

export const OrganizationNotVerified = defineProblem({
  code: "organization_not_verified",
  status: 403,
  title: "The organization is not approved",
  remedy:
    "Complete the profile and submit it with `submitOrganizationKyb`, then wait for `organization.approved`. Drafts can be created before.",
});

/**
 * Throws OrganizationNotVerified unless the organization's review allows it to issue invoices; never throws if reviews
 * are off.
 */
export async function requireVerified(
  reader: Reader,
  organizationId: Id<"organization">,
  verification: "required" | "off",
): Promise<void> {
  if (verification === "off") return;
  requireApproved(found(await reader.all<IssuingStatus>(statusSql, [organizationId])));
}

/**
 * Repeats `requireVerified` in the issuing transaction, and throws `organization_suspended` if the organization is now
 * suspended. The organization cannot change before the transaction ends.
 */
export async function lockIssuingShared(
  tx: Tx,
  organizationId: Id<"organization">,
  verification: "required" | "off",
): Promise<void> {
  const row = found(await tx.lockShared<IssuingStatus>(statusSql, [organizationId]));
  if (row.status === "suspended") throw new OrganizationSuspended(suspendedAdvice);
  if (verification === "required") requireApproved(row);
}

/**
 * Locks the organization's row until the transaction ends. It costs no further statement in a transaction that has
 * called `lockIssuingShared`.
 */
export async function lockOrganizationShared(
  tx: Tx,
  organizationId: Id<"organization">,
): Promise<void> {
  await tx.lockShared<IssuingStatus>(statusSql, [organizationId]);
}

type IssuingStatus = Pick<OrganizationRow, "status" | "verificationStatus">;

const statusSql =
  'SELECT status, verification_status AS "verificationStatus" FROM organizations WHERE id = $1';

function found([row]: readonly IssuingStatus[]): IssuingStatus {
  if (row === undefined) throw notFound();
  return row;
}

function requireApproved({ verificationStatus }: IssuingStatus): void {
  if (verificationStatus === "approved") return;
  throw new OrganizationNotVerified(
    `Issuing invoices requires an approved organization, and this one is ${verificationStatus}. Complete the legal fields and submit them for review. You can create drafts in the meantime.`,
  );
}
