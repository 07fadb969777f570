import { defineProblem } from "../../kernel/errors.ts";

export const KeyHasNoOwner = defineProblem({
  code: "key_has_no_owner",
  status: 403,
  title: "A key created by the operator cannot create an organization",
  remedy: "Log in as a user, or use a key that a user created: a new organization needs an owner.",
});
export const TooManyUnapproved = defineProblem({
  code: "organization_limit",
  status: 409,
  title: "Too many of the user's organizations wait for approval",
  remedy: "Have one of them approved, or use one of them.",
});
export const InReview = defineProblem({
  code: "organization_in_review",
  status: 409,
  title: "The organization is in review",
  remedy: "Wait for the platform's decision, then change the profile.",
});
export const KybIncomplete = defineProblem({
  code: "kyb_incomplete",
  status: 422,
  title: "Required fields are missing",
  remedy: "Set the fields that `errors` names with `updateOrganization`, then submit again.",
});
export const VerificationConflict = defineProblem({
  code: "verification_conflict",
  status: 409,
  title: "The organization's verification status does not allow this",
  remedy:
    "Read the organization again: its verification status has changed or does not allow this decision.",
});
export const PlatformStays = defineProblem({
  code: "platform_organization",
  status: 409,
  title: "This is the platform organization",
});
