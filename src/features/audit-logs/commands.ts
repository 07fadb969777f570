import type { App } from "../../app.ts";
import { commandsOf, anyOrganization, pageFlags } from "../../api/declare/command.ts";
import { defineProblem } from "../../kernel/errors.ts";
import { listAllAuditLogs, verifyAuditLog } from "./audit-logs.ts";
import { AdminAuditLogQuery, presentAuditLogs, presentVerification, withTimes } from "./records.ts";

const AuditChainBroken = defineProblem({
  code: "audit_chain_broken",
  status: 422,
  title: "The hash chain of the audit log is broken",
});

const command = commandsOf<App>();

export const auditCommands = [
  command({
    name: "audit list",
    summary: "List audit log entries of one or all organizations, newest first",
    flags: [
      anyOrganization,
      { flags: "--action <name>", description: "only this action, such as invoice.created" },
      {
        flags: "--actor-id <id>",
        description: "only actions of this user or API key",
        takes: ["user", "apiKey"],
      },
      {
        flags: "--created-from <time>",
        description: "at or after this time, such as 2031-01-31T00:00:00.000Z",
      },
      { flags: "--created-to <time>", description: "before this time" },
      { flags: "--from <time>", description: "deprecated, use --created-from" },
      { flags: "--to <time>", description: "deprecated, use --created-to" },
      ...pageFlags,
    ],
    examples: [
      "till audit list",
      "till audit list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --action invoice.created --json",
    ],
    effect: "read",
    handle(app, call) {
      const query = call.parse(AdminAuditLogQuery, {
        limit: call.flag("limit"),
        cursor: call.flag("cursor"),
        organizationId: call.flag("organization"),
        action: call.flag("action"),
        actorId: call.flag("actor-id"),
        createdFrom: call.flag("created-from"),
        createdTo: call.flag("created-to"),
        from: call.flag("from"),
        to: call.flag("to"),
      });
      return listAllAuditLogs(app, withTimes(query));
    },
    present: presentAuditLogs,
    columns: ["createdAt", "action", "actorLabel", "targetId", "organizationId", "id"],
  }),
  command({
    name: "audit verify",
    summary: "Verify that no entry was changed or removed, and print the head to store elsewhere",
    flags: [
      {
        flags: "--head <head>",
        description:
          "a head stored elsewhere, as position:hash; the log must still contain its entries unchanged",
      },
    ],
    examples: [
      "till audit verify",
      "till audit verify --head 12:9f86d081884c7d659a2feaa0c55ad015…",
    ],
    effect: "read",
    handle: (app, call) => verifyAuditLog(app, call.context, call.flag("head") ?? null),
    present: presentVerification,
    columns: ["entries", "head"],
    identify: (found) => found.head,
    fault: ({ fault }) =>
      fault === null
        ? null
        : new AuditChainBroken(
            `${fault.message} Compare the store with an earlier backup, and find out who had write access to it.`,
          ),
  }),
];
