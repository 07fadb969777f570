import type { z } from "zod";
import { toIso, toIsoOrNull } from "../../kernel/clock.ts";
import type { CreatedInvitation, InvitationView } from "./invitations.ts";
import type {
  CreatedInvitationRecord,
  InvitationRecord,
  MembershipRecord,
  UserRecord,
} from "./records.ts";
import type { MembershipView, UserView } from "./store.ts";

export function presentUser(user: UserView): z.input<typeof UserRecord> {
  return {
    id: user.id,
    email: user.email,
    name: user.name,
    platformRole: user.platformRole,
    createdAt: toIso(user.createdAt),
  };
}

export function presentMembership(view: MembershipView): z.input<typeof MembershipRecord> {
  return {
    id: view.id,
    userId: view.userId,
    organizationId: view.organizationId,
    organizationName: view.organizationName,
    email: view.email,
    name: view.name,
    role: view.role,
    createdAt: toIso(view.createdAt),
  };
}

export function presentInvitation(view: InvitationView): z.input<typeof InvitationRecord> {
  return {
    id: view.id,
    organizationId: view.organizationId,
    email: view.email,
    role: view.role,
    status: view.status,
    invitedBy: view.invitedBy,
    createdAt: toIso(view.createdAt),
    expiresAt: toIso(view.expiresAt),
    acceptedAt: toIsoOrNull(view.acceptedAt),
    revokedAt: toIsoOrNull(view.revokedAt),
  };
}

export function presentCreatedInvitation(
  created: CreatedInvitation,
): z.input<typeof CreatedInvitationRecord> {
  return { ...presentInvitation(created.invitation), token: created.token };
}
