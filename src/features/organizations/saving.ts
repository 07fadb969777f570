import type { Instant } from "../../kernel/clock.ts";
import type { Tx } from "../../platform/database/database.ts";
import type { EventType } from "../../platform/events/catalogue.ts";
import type { Announcement } from "../../platform/journal/index.ts";
import { VerificationConflict } from "./errors.ts";
import { presentOrganization } from "./present.ts";
import { verification, type VerificationStatus } from "./rules.ts";
import { organizations, type OrganizationRow } from "./table.ts";

/** Writes the next version of an organization that the transaction has locked. */
export async function save(
  tx: Tx,
  at: Instant,
  current: OrganizationRow,
  changes: Partial<OrganizationRow>,
): Promise<OrganizationRow> {
  const set = { ...changes, version: current.version + 1, updatedAt: at };
  await tx.update(organizations, set, "WHERE id = $1", [current.id]);
  return { ...current, ...set };
}

/** Throws 409 unless the review may move from its current state to another. */
export function requireTransition(current: OrganizationRow, to: VerificationStatus): void {
  if (verification.allows(current.verificationStatus, to)) return;
  throw new VerificationConflict(
    `The organization is ${current.verificationStatus} and cannot become ${to}. Read it again before you decide.`,
  );
}

/** Returns the event of a changed organization, with the API's record. */
export function announcementOf(
  type: EventType,
  row: OrganizationRow,
  previousStatus: VerificationStatus | OrganizationRow["status"],
): Announcement {
  return {
    types: [type],
    version: row.version,
    data: { ...presentOrganization(row), previousStatus },
  };
}
