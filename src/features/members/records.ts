import { z } from "zod";
import {
  datetime,
  email,
  id,
  listRecord,
  record,
  requestRecord,
  responseRecord,
} from "../../api/declare/record.ts";
import { roles } from "../../api/declare/permissions.ts";
import { invitationStatuses } from "./rules.ts";

export const UserRecord = responseRecord("User", {
  id: id("user"),
  email: z.string(),
  name: z.string(),
  platformRole: z.enum(["admin", "none"]),
  createdAt: datetime(),
});

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

export const MembershipListRecord = listRecord("MembershipList", MembershipRecord);

export const UpdateMembershipRequest = requestRecord("UpdateMembershipRequest", {
  role: z.enum(roles),
});

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

export const CreateInvitationRequest = requestRecord("CreateInvitationRequest", {
  email: email(),
  role: z.enum(roles),
});

export const AcceptInvitationRequest = requestRecord("AcceptInvitationRequest", {
  invitationToken: z.string().min(1).max(200),
});
