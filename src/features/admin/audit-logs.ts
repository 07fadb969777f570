import { platform } from "../../api/declare/access.ts";
import { operationsOf } from "../../api/declare/operation.ts";
import { adminAuditLogQuery, AuditLogListRecord, withTimes } from "../audit-logs/records.ts";
import { presentAuditLogs } from "../audit-logs/present.ts";
import type { AuditLogService } from "../audit-logs/service.ts";

const operation = operationsOf<AuditLogService>();

export const adminAuditLogOperations = [
  operation({
    id: "adminListAuditLogs",
    group: "Admin",
    method: "GET",
    path: "/admin/audit-logs",
    summary: "List audit log entries of all organizations",
    description:
      "Entries that concern only a user, such as logins, have no organization. `createdFrom` is inclusive, `createdTo` exclusive.",
    access: platform("platform:read"),
    request: { query: adminAuditLogQuery },
    response: { status: 200, record: AuditLogListRecord },
    errors: [],
    handle: (service, call) => service.listAll(withTimes(call.query)),
    present: presentAuditLogs,
  }),
];
