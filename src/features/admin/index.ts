export { adminAnalyticsOperations } from "./analytics.ts";
export { adminAuditLogOperations } from "./audit-logs.ts";
export {
  alreadyInitialized,
  isInitialized,
  makeInstallation,
  type Installation,
} from "./installation.ts";
export { adminOperations } from "./operations.ts";
export { makeOversight, type OversightService } from "./cross-organization/queries.ts";
export { oversightOperations } from "./cross-organization/operations.ts";
export { presentInstalled } from "./present.ts";
export { readBacklogs, readLastReport } from "./status/probes.ts";
export { InitializeRequest } from "./records.ts";
export { makeQueueService, type QueueService } from "./queues.ts";
export { makeAdminService, type AdminService } from "./service.ts";
