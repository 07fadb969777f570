import { defineProblem } from "../../kernel/errors.ts";

export const AlreadyMember = defineProblem({
  code: "already_member",
  status: 409,
  title: "The user is already a member",
  remedy:
    "Nothing to do: the user is in the organization. Change the role with `updateMember` if another one was meant.",
});
export const EmailUnavailable = defineProblem({
  code: "email_unavailable",
  status: 409,
  title: "The e-mail address already has an account",
  remedy:
    "Log in with this address instead, or reset its password. A user with an account joins by accepting an invitation.",
});
export const InvalidInvitation = defineProblem({
  code: "invalid_invitation",
  status: 422,
  title: "The invitation is not valid",
  remedy:
    "Ask an admin of the organization for a new invitation: this one is unknown, expired, revoked, used, or for another address.",
});
export const InvitationAccepted = defineProblem({
  code: "invitation_accepted",
  status: 409,
  title: "The invitation was already accepted",
  remedy: "Remove the member instead: the invitation was already used.",
});
export const LastOwner = defineProblem({
  code: "last_owner",
  status: 409,
  title: "An organization needs an owner",
  remedy: "Make another member an owner first.",
});
export const UserNeeded = defineProblem({
  code: "user_needed",
  status: 403,
  title: "Only a user may do this",
  remedy: "Log in as a user: an API key cannot do this.",
});
