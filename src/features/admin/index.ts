export { adminAnalyticsOperations } from "./analytics.ts";
export { adminAuditLogOperations } from "./audit-logs.ts";
export {
  AlreadyInitialized,
  alreadyInitialized,
  isInitialized,
  makeInstallation,
  type Installation,
  type InstallationInput,
  type Installed,
} from "./installation.ts";
export { adminOperations } from "./operations.ts";
export { presentInstalled, presentOrganizationDetail } from "./present.ts";
export { InitializeRequest } from "./records.ts";
export { makeAdminService, type AdminService } from "./service.ts";
