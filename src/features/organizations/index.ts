export { VerificationConflict } from "./errors.ts";
export { organizationOperations } from "./operations.ts";
export { presentOrganization } from "./present.ts";
export { OrganizationRecord } from "./records.ts";
export { decisions, verificationStatuses } from "./rules.ts";
export {
  findOrganization,
  makeOrganizations,
  makeOrganizationService,
  platformOrganization,
  reviewHistory,
  type DecisionInput,
  type OrganizationRow,
  type Organizations,
  type OrganizationService,
  type ReviewRow,
} from "./service.ts";
