export { returnedMembers, type ReturnedMember } from "./after-restore.ts";
export { EmailUnavailable, InvalidInvitation, UserNeeded } from "./errors.ts";
export {
  makeInvitations,
  makeInvitationService,
  type Invitations,
  type InvitationService,
} from "./invitations.ts";
export { presentMembership, presentUser } from "./present.ts";
export { MembershipRecord, UserRecord } from "./records.ts";
export {
  handlingRole,
  makeMembers,
  makeMemberService,
  type Members,
  type MemberService,
} from "./service.ts";
export {
  changePasswordHash,
  isPlatformAdmin,
  listUsers,
  lockUser,
  membershipsOfOrganization,
  membershipsOfUser,
  userByEmail,
  userView,
  type MembershipView,
  type UserView,
} from "./store.ts";
