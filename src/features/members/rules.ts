import { roleCovers, type Role } from "../../api/declare/permissions.ts";
import type { Instant } from "../../kernel/clock.ts";
import type { InvitationRow } from "./table.ts";

/** Whether a role may grant, change or remove another role: owners all, admins only lower ones. */
export function mayHandle(by: Role, role: Role): boolean {
  return by === "owner" || (by === "admin" && !roleCovers(role, "admin"));
}

export const invitationStatuses = ["pending", "accepted", "revoked", "expired"] as const;
type InvitationStatus = (typeof invitationStatuses)[number];

export interface InvitationView extends InvitationRow {
  /** Status at the time of reading. */
  readonly status: InvitationStatus;
}

/** Returns the status of an invitation at a given time. */
export function invitationStatus(
  invitation: Pick<InvitationRow, "acceptedAt" | "revokedAt" | "expiresAt">,
  at: Instant,
): InvitationStatus {
  if (invitation.acceptedAt !== null) return "accepted";
  if (invitation.revokedAt !== null) return "revoked";
  return invitation.expiresAt <= at ? "expired" : "pending";
}

export function invitationViewAt(row: InvitationRow, at: Instant): InvitationView {
  return { ...row, status: invitationStatus(row, at) };
}
