export { EmailUnavailable } from "./errors.ts";
export { presentMembership, presentUser } from "./present.ts";
export { MembershipRecord, UserRecord } from "./records.ts";
export { makeMembers, type Members } from "./service.ts";
export {
  isPlatformAdmin,
  membershipsOfOrganization,
  membershipsOfUser,
  userByEmail,
  userView,
  type MembershipView,
  type UserView,
} from "./store.ts";
