import type { Instant } from "../../kernel/clock.ts";
import type { Tx } from "../../platform/database/index.ts";
import type { EventType } from "../../platform/events/catalogue.ts";
import type { Outbox } from "../../platform/events/index.ts";
import { VerificationConflict } from "./errors.ts";
import { presentOrganization } from "./present.ts";
import { verification, type VerificationStatus } from "./rules.ts";
import { organizations, type OrganizationRow } from "./table.ts";

/** Writes an organization that the transaction has locked, as its next version. */
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

/** 409 where the review of an organization cannot go from its state to another. */
export function requireTransition(current: OrganizationRow, to: VerificationStatus): void {
  if (verification.allows(current.verificationStatus, to)) return;
  throw new VerificationConflict(
    `The organization is ${current.verificationStatus}; from there it cannot become ${to}. Read it again before you decide.`,
  );
}

/** Tells an organization, or another that listens, of what became of it; its body is what the API would give. */
export function announce(
  outbox: Outbox,
  tx: Tx,
  at: Instant,
  type: EventType,
  row: OrganizationRow,
  previousStatus: VerificationStatus | OrganizationRow["status"],
  listenerId = row.id,
): void {
  outbox.emit(tx, at, {
    type,
    organizationId: listenerId,
    objectType: "organization",
    objectId: row.id,
    objectVersion: row.version,
    data: { ...presentOrganization(row), previousStatus },
  });
}
