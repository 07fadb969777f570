import { defineProblem } from "../../kernel/errors.ts";

export const AlreadyMember = defineProblem({
  code: "already_member",
  status: 409,
  title: "The user is already a member",
});
export const EmailUnavailable = defineProblem({
  code: "email_unavailable",
  status: 409,
  title: "The e-mail address already has an account",
});
export const InvalidInvitation = defineProblem({
  code: "invalid_invitation",
  status: 422,
  title: "The invitation is not valid",
});
export const InvitationAccepted = defineProblem({
  code: "invitation_accepted",
  status: 409,
  title: "The invitation was already accepted",
});
export const LastOwner = defineProblem({
  code: "last_owner",
  status: 409,
  title: "An organization needs an owner",
});
export const UserNeeded = defineProblem({
  code: "user_needed",
  status: 403,
  title: "Only a user may do this",
});
