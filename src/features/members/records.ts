import * as z from "zod";
import {
  datetime,
  describeFields,
  email,
  id,
  listRecord,
  presentRow,
  record,
  requestRecord,
  responseRecord,
} from "../../http/declare/record.ts";
import { roleCovers, roles, type Role } from "../../http/declare/permissions.ts";
import type { Instant } from "../../kernel/clock.ts";
import type { InvitationRow, MembershipView, UserView } from "./store.ts";

export const UserRecord = responseRecord("User", {
  id: id("user"),
  email: z.string(),
  name: z.string(),
  platformRole: z.enum(["admin", "none"]),
  createdAt: datetime(),
});
describeFields(UserRecord, {
  email: "The user's e-mail address, in lower case.",
  name: "The user's name.",
  platformRole: "`admin` for an admin of the platform's organization.",
});

export function presentUser(user: UserView): z.input<typeof UserRecord> {
  return presentRow(UserRecord, user);
}

export const MembershipRecord = responseRecord("Membership", {
  id: id("membership"),
  userId: id("user"),
  organizationId: id("organization"),
  organizationName: z.string(),
  email: z.string(),
  name: z.string(),
  role: z.enum(roles),
  createdAt: datetime(),
});
describeFields(MembershipRecord, {
  email: "The member's e-mail address.",
  name: "The member's name.",
  role: "The member's role. Each role includes the permissions of the weaker ones: `viewer`, `member`, `admin`, `owner`.",
});

export function presentMembership(view: MembershipView): z.input<typeof MembershipRecord> {
  return presentRow(MembershipRecord, view);
}

export const MembershipListRecord = listRecord("MembershipList", MembershipRecord);

export const UpdateMembershipRequest = requestRecord("UpdateMembershipRequest", {
  role: z.enum(roles),
});
describeFields(UpdateMembershipRequest, {
  role: "The member's new role.",
});
export type UpdateMembershipInput = z.output<typeof UpdateMembershipRequest>;

const invitationStatuses = ["pending", "accepted", "revoked", "expired"] as const;

export const InvitationRecord = responseRecord("Invitation", {
  id: id("invitation"),
  organizationId: id("organization"),
  email: z.string(),
  role: z.enum(roles),
  status: z.enum(invitationStatuses),
  invitedBy: id("user").nullable().meta({
    description: "The member who sent the invitation; null if an API key or the operator did.",
  }),
  createdAt: datetime(),
  expiresAt: datetime(),
  acceptedAt: datetime().nullable(),
  revokedAt: datetime().nullable(),
});
describeFields(InvitationRecord, {
  email: "The e-mail address of the invited person.",
  role: "The role of the new member.",
  status: "`pending` until it is `accepted`, `revoked` or `expired`.",
  expiresAt: "Time from which it can no longer be accepted: ISO 8601, UTC.",
  acceptedAt: "Time of the acceptance: ISO 8601, UTC; null without one.",
  revokedAt: "Time of the revocation: ISO 8601, UTC; null without one.",
});

export function presentInvitation(view: InvitationView): z.input<typeof InvitationRecord> {
  return presentRow(InvitationRecord, view);
}

export const InvitationListRecord = listRecord("InvitationList", InvitationRecord);

export const CreatedInvitationRecord = record(
  "CreatedInvitation",
  InvitationRecord.extend({
    token: z.string().meta({
      description:
        "Shown only once. Give it to the invited person, who registers or accepts with it.",
    }),
  }),
);

export function presentCreatedInvitation(created: {
  readonly invitation: InvitationView;
  readonly token: string;
}): z.input<typeof CreatedInvitationRecord> {
  return { ...presentInvitation(created.invitation), token: created.token };
}

export const CreateInvitationRequest = requestRecord("CreateInvitationRequest", {
  email: email(),
  role: z.enum(roles),
});
describeFields(CreateInvitationRequest, {
  email: "The e-mail address of the invited person.",
  role: "The role of the new member.",
});
export type CreateInvitationInput = z.output<typeof CreateInvitationRequest>;

export const AcceptInvitationRequest = requestRecord("AcceptInvitationRequest", {
  invitationToken: z.string().min(1).max(200),
});
describeFields(AcceptInvitationRequest, {
  invitationToken: "The `token` of the invitation.",
});
export type AcceptInvitationInput = z.output<typeof AcceptInvitationRequest>;

/** Whether a role may grant, change or remove another role: owners all, admins only lower ones. */
export function mayHandle(by: Role, role: Role): boolean {
  return by === "owner" || (by === "admin" && !roleCovers(role, "admin"));
}

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
