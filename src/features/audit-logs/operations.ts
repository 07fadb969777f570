import { organization } from "../../api/declare/access.ts";
import { operationsOf } from "../../api/declare/operation.ts";
import { presentAuditLogs } from "./present.ts";
import { AuditLogListRecord, auditLogQuery, withTimes } from "./records.ts";
import type { AuditLogService } from "./service.ts";

const operation = operationsOf<AuditLogService>();

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
    handle: (service, call) => service.list(call.organizationId, withTimes(call.query)),
    present: presentAuditLogs,
  }),
];
