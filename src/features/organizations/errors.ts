import { defineProblem } from "../../kernel/errors.ts";

export const KeyHasNoOwner = defineProblem({
  code: "key_has_no_owner",
  status: 403,
  title: "A key created by the operator cannot create an organization",
});
export const InReview = defineProblem({
  code: "organization_in_review",
  status: 409,
  title: "The organization is in review",
});
export const KybIncomplete = defineProblem({
  code: "kyb_incomplete",
  status: 422,
  title: "Required fields are missing",
});
export const VerificationConflict = defineProblem({
  code: "verification_conflict",
  status: 409,
  title: "The organization's verification status does not allow this",
});
export const PlatformStays = defineProblem({
  code: "platform_organization",
  status: 409,
  title: "This is the platform organization",
});
