export { presentAuditLogs } from "./present.ts";
export { adminAuditLogQuery, AuditLogListRecord, withTimes } from "./records.ts";
export { makeAuditLogService, type AuditLogService } from "./service.ts";
