import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { auditLogOperations } from "./operations.ts";
import type { AuditLogService } from "./service.ts";

export const auditLogsModule: FeatureModule<{ readonly auditLogs: AuditLogService }> = {
  operations: { auditLogs: auditLogOperations },
};
