export { VerificationConflict } from "./errors.ts";
export { findLogo, logoPath } from "./branding/logos.ts";
export { presentOrganization } from "./present.ts";
export { OrganizationRecord } from "./records.ts";
export { decisions, verificationStatuses } from "./rules.ts";
export {
  findOrganization,
  hasPlatformOrganization,
  lateReviewers,
  lateWindowOf,
  lockOrganization,
  namesOf,
  organizationsById,
  platformOrganization,
  reviewHistory,
  searchOrganizations,
  type OrganizationFilters,
} from "./store.ts";
export { makeOrganizations, type DecisionInput, type Organizations } from "./organizations.ts";
export { makeOrganizationService, type OrganizationService } from "./service.ts";
export type { OrganizationRow, ReviewRow } from "./table.ts";
export { keepIssuing, OrganizationNotVerified, requireVerified } from "./issuing.ts";
