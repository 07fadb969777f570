import { defineProblem } from "../../kernel/errors.ts";

export const KeyHasNoOwner = defineProblem({
  code: "key_has_no_owner",
  status: 403,
  title: "A key made by the operator cannot found an organization",
});
export const InReview = defineProblem({
  code: "organization_in_review",
  status: 409,
  title: "The organization is in review",
});
export const KybIncomplete = defineProblem({
  code: "kyb_incomplete",
  status: 422,
  title: "The submission lacks fields",
});
export const VerificationConflict = defineProblem({
  code: "verification_conflict",
  status: 409,
  title: "The organization's verification is in another state",
});
export const PlatformStays = defineProblem({
  code: "platform_organization",
  status: 409,
  title: "This is the organization of the platform",
});
