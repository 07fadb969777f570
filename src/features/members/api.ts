import { anyCredential, organization } from "../../http/declare/permissions.ts";
import type { FeatureModule } from "../../http/declare/feature-module.ts";
import { pageParameters } from "../../http/declare/list.ts";
import { operation } from "../../http/declare/operation.ts";
import { OrganizationSuspended } from "../../http/declare/problems.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import {
  acceptInvitation,
  createInvitation,
  InvalidInvitation,
  InvitationAccepted,
  listInvitations,
  pruneInvitations,
  revokeInvitation,
} from "./invitations.ts";
import {
  AlreadyMember,
  changeMemberRole,
  LastOwner,
  listMembers,
  removeMember,
  UserNeeded,
} from "./members.ts";
import {
  AcceptInvitationRequest,
  CreatedInvitationRecord,
  CreateInvitationRequest,
  InvitationListRecord,
  InvitationRecord,
  MembershipListRecord,
  MembershipRecord,
  presentCreatedInvitation,
  presentInvitation,
  presentMembership,
  UpdateMembershipRequest,
  type InvitationView,
} from "./records.ts";
import type { MembershipView } from "./store.ts";

export const memberOperations = [
  operation({
    id: "listMembers",
    group: "Users",
    method: "GET",
    path: "/organizations/{organizationId}/members",
    summary: "List the members of an organization",
    access: organization("members:read"),
    request: { query: pageParameters },
    response: { status: 200, record: MembershipListRecord },
    errors: [],
    handle: (app, call) => listMembers(app, call.organizationId, call.query),
    present: (page: Page<MembershipView>) => mapPage(page, presentMembership),
  }),
  operation({
    id: "updateMember",
    group: "Users",
    method: "PATCH",
    path: "/organizations/{organizationId}/members/{membershipId}",
    summary: "Change a member's role",
    description:
      "Admins and API keys can change members and viewers; owners can change everyone. The role of the last owner cannot be changed.",
    access: organization("members:write"),
    request: { body: UpdateMembershipRequest },
    response: { status: 200, record: MembershipRecord },
    errors: [LastOwner],
    handle: (app, call) =>
      changeMemberRole(
        app,
        call.context,
        call.organizationId,
        call.params.membershipId,
        call.body,
        call.expect,
      ),
    present: presentMembership,
  }),
  operation({
    id: "removeMember",
    group: "Users",
    method: "POST",
    path: "/organizations/{organizationId}/members/{membershipId}/remove",
    summary: "Remove a member, or leave the organization",
    description:
      "Takes effect with the user's next request. API keys that the user created remain; revoke them separately.",
    access: organization("members:write"),
    response: { status: 204 },
    errors: [LastOwner],
    handle: (app, call) =>
      removeMember(app, call.context, call.organizationId, call.params.membershipId),
    present: () => undefined,
  }),
  operation({
    id: "listInvitations",
    group: "Users",
    method: "GET",
    path: "/organizations/{organizationId}/invitations",
    summary: "List invitations",
    access: organization("members:read"),
    request: { query: pageParameters },
    response: { status: 200, record: InvitationListRecord },
    errors: [],
    handle: (app, call) => listInvitations(app, call.organizationId, call.query),
    present: (page: Page<InvitationView>) => mapPage(page, presentInvitation),
  }),
  operation({
    id: "createInvitation",
    group: "Users",
    method: "POST",
    path: "/organizations/{organizationId}/invitations",
    summary: "Invite a person and return the token once",
    description:
      "The token is valid once, for 7 days, and only for the invited e-mail address; a new invitation revokes the previous one. Admins and API keys can invite members and viewers, owners all roles.",
    access: organization("members:write"),
    request: { body: CreateInvitationRequest },
    response: { status: 201, record: CreatedInvitationRecord },
    errors: [AlreadyMember],
    secretResponse: true,
    handle: (app, call) => createInvitation(app, call.context, call.organizationId, call.body),
    present: presentCreatedInvitation,
  }),
  operation({
    id: "revokeInvitation",
    group: "Users",
    method: "POST",
    path: "/organizations/{organizationId}/invitations/{invitationId}/revoke",
    summary: "Revoke an invitation",
    access: organization("members:write"),
    response: { status: 200, record: InvitationRecord },
    errors: [InvitationAccepted],
    handle: (app, call) =>
      revokeInvitation(app, call.context, call.organizationId, call.params.invitationId),
    present: presentInvitation,
  }),
  operation({
    id: "acceptInvitation",
    group: "Auth",
    method: "POST",
    path: "/auth/invitations/accept",
    summary: "Join an organization as the logged-in user",
    description: "A person without an account registers with the invitation's token instead.",
    access: anyCredential,
    request: { body: AcceptInvitationRequest },
    response: { status: 200, record: MembershipRecord },
    errors: [AlreadyMember, InvalidInvitation, OrganizationSuspended, UserNeeded],
    handle: (app, call) => acceptInvitation(app, call.context, call.actor, call.body),
    present: presentMembership,
  }),
];

export const membersModule: FeatureModule = {
  operations: memberOperations,
  prunings: { "prune invitations": pruneInvitations },
};
