export { auditLogOperations, withTimes } from "./operations.ts";
export { presentAuditLogs } from "./present.ts";
export { adminAuditLogQuery, AuditLogListRecord } from "./records.ts";
export { makeAuditLogService, type AuditLogService } from "./service.ts";
