import { platform } from "../../api/declare/access.ts";
import { operation } from "../../api/declare/operation.ts";
import { listAllAuditLogs } from "../audit-logs/audit-logs.ts";
import {
  adminAuditLogQuery,
  AuditLogListRecord,
  presentAuditLogs,
  withTimes,
} from "../audit-logs/records.ts";

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
    handle: (app, call) => listAllAuditLogs(app, withTimes(call.query)),
    present: presentAuditLogs,
  }),
];
