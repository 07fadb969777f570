export { VerificationConflict } from "./errors.ts";
export {
  distinctOptions,
  isSameOption,
  paymentOptionsInput,
  type OptionInput,
  type PaymentOption,
} from "./checkout-policy/payment-options.ts";
export {
  paymentOptionsFlag,
  readOptionFlag,
  readOptionList,
} from "./checkout-policy/option-list.ts";
export { spendAllowance, unapprovedBytesMax, unapprovedDraftsMax } from "./allowance.ts";
export { findLogo, logoPath } from "./branding/logos.ts";
export { presentOrganization } from "./present.ts";
export { OrganizationRecord, UsualPaymentOptionRecord } from "./records.ts";
export { decisions, verificationStatuses } from "./rules.ts";
export {
  findOrganization,
  hasPlatformOrganization,
  issuingSettingsOf,
  lateReviewers,
  lateWindowOf,
  lockOrganization,
  namesOf,
  organizationsById,
  organizationsNamed,
  platformOrganization,
  platformOrganizationId,
  reviewHistory,
  searchOrganizations,
  usualOptions,
  type OrganizationFilters,
} from "./store.ts";
export { mayReturnTo } from "./checkout-policy/origins.ts";
export { makeOrganizations, type DecisionInput, type Organizations } from "./organizations.ts";
export { makeOrganizationService, type OrganizationService } from "./service.ts";
export type { OrganizationRow, ReviewRow } from "./table.ts";
export {
  keepIssuing,
  keepOrganization,
  OrganizationNotVerified,
  requireVerified,
} from "./issuing.ts";
