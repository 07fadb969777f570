import { AllowanceUsed } from "../../api/declare/problems.ts";
import type { Id } from "../../kernel/id.ts";
import type { Tx, WriteContext } from "../../platform/database/database.ts";

/** The bytes that an organization may store before its approval: texts of rows, events, audit entries and kept answers. */
export const unapprovedBytesMax = 32 * 1_024 ** 2;
/** The part of these bytes that is left for requests that create nothing, such as those of the approval itself. */
const reservedBytes = 4 * 1_024 ** 2;
/** The number of drafts that an organization may create before its approval; deleted ones count. */
export const unapprovedDraftsMax = 1_000;

/**
 * Returns a function that counts what a transaction of an organization without approval has written. It throws
 * `allowance_used`, so that nothing of it stays, if the organization has then stored more than it may.
 */
export function spendAllowance(
  organizationId: Id<"organization">,
  isCreation: boolean,
): WriteContext["spend"] {
  return async (tx, { bytes, appended }) => {
    const drafts = appended.get("invoices") ?? 0;
    const most = unapprovedBytesMax - (isCreation ? reservedBytes : 0);
    const counted = await tx.run(
      `INSERT INTO organization_allowances (organization_id, bytes, drafts) VALUES ($1, $2, $3)
       ON CONFLICT (organization_id) DO UPDATE SET
         bytes = organization_allowances.bytes + excluded.bytes,
         drafts = organization_allowances.drafts + excluded.drafts
       WHERE organization_allowances.bytes + excluded.bytes <= $4
         AND (excluded.drafts = 0 OR organization_allowances.drafts + excluded.drafts <= $5)`,
      [organizationId, bytes, drafts, most, unapprovedDraftsMax],
    );
    if (counted === 1 && bytes <= most && drafts <= unapprovedDraftsMax) return;
    throw new AllowanceUsed(
      `Before its approval, an organization may create ${String(unapprovedDraftsMax)} drafts and store ${String(unapprovedBytesMax / 1_024 ** 2)} MiB. Submit it for review; requests that create nothing still work for a while.`,
    );
  };
}

/** Ends the count at an approval: an organization that needs another one later begins at zero. */
export async function forgetAllowance(tx: Tx, organizationId: Id<"organization">): Promise<void> {
  await tx.run("DELETE FROM organization_allowances WHERE organization_id = $1", [organizationId]);
}
