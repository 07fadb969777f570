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
    cli: {
      name: "audit list",
      summary: "List audit log entries of one or all organizations, newest first",
      flags: {
        action: { placeholder: "name" },
        actorId: { placeholder: "id", takes: ["user", "apiKey"] },
        from: { description: "deprecated, use --created-from" },
        to: { description: "deprecated, use --created-to" },
      },
      examples: [
        "till audit list",
        "till audit list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --action invoice.created --json",
      ],
      columns: ["createdAt", "action", "actorLabel", "targetId", "organizationId", "id"],
    },
  }),
];
