import { organization } from "../../http/declare/permissions.ts";
import type { FeatureModule } from "../../http/declare/feature-module.ts";
import { operation } from "../../http/declare/operation.ts";
import { listAuditLogs } from "./audit-logs.ts";
import { AuditLogListRecord, auditLogQuery, presentAuditLogs, withTimes } from "./records.ts";

export const auditLogOperations = [
  operation({
    id: "listAuditLogs",
    group: "Audit Logs",
    method: "GET",
    path: "/organizations/{organizationId}/audit-logs",
    summary: "List audit log entries of an organization",
    description:
      "Newest first. `action` and `actorId` must match exactly. `createdFrom` is inclusive, `createdTo` exclusive.",
    access: organization("audit-logs:read"),
    request: { query: auditLogQuery },
    response: { status: 200, record: AuditLogListRecord },
    errors: [],
    handle: (app, call) => listAuditLogs(app, call.organizationId, withTimes(call.query)),
    present: presentAuditLogs,
  }),
];

export const auditLogsModule: FeatureModule = {
  operations: auditLogOperations,
};
