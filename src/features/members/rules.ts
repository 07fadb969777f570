import { roleCovers, type Role } from "../../api/declare/permissions.ts";
import type { Instant } from "../../kernel/clock.ts";

/** Whether a role may grant, change or remove another role: owners all, admins only lower ones. */
export function mayHandle(by: Role, role: Role): boolean {
  return by === "owner" || (by === "admin" && !roleCovers(role, "admin"));
}

export const invitationStatuses = ["pending", "accepted", "revoked", "expired"] as const;
export type InvitationStatus = (typeof invitationStatuses)[number];

/** Returns the status of an invitation at a given time. */
export function invitationStatus(
  invitation: {
    readonly acceptedAt: Instant | null;
    readonly revokedAt: Instant | null;
    readonly expiresAt: Instant;
  },
  at: Instant,
): InvitationStatus {
  if (invitation.acceptedAt !== null) return "accepted";
  if (invitation.revokedAt !== null) return "revoked";
  return invitation.expiresAt <= at ? "expired" : "pending";
}
