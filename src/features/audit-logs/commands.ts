import { commandsOf, organizationFlag, pageFlags } from "../../api/command.ts";
import type { AuditLogService } from "./service.ts";

const command = commandsOf<AuditLogService>();

export const auditCommands = [
  command({
    name: "audit list",
    summary: "List who did what, newest first; of one organization or everywhere",
    flags: [
      organizationFlag,
      { flags: "--action <name>", description: "one action only, such as invoice.created" },
      { flags: "--actor-id <id>", description: "what one user or API key did" },
      {
        flags: "--created-from <time>",
        description: "from then on, such as 2031-01-31T00:00:00.000Z",
      },
      { flags: "--created-to <time>", description: "before then" },
      { flags: "--from <time>", description: "older name of --created-from" },
      { flags: "--to <time>", description: "older name of --created-to" },
      ...pageFlags,
    ],
    examples: [
      "till audit list",
      "till audit list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --action invoice.created --json",
    ],
    effect: "read",
    async handle(service, call) {
      const { AdminAuditLogQuery, withTimes } = await import("./records.ts");
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
      return service.listAll(withTimes(query));
    },
    async present(page) {
      return (await import("./present.ts")).presentAuditLogs(page);
    },
    columns: [
      { title: "WHEN", value: (entry) => entry.createdAt },
      { title: "ACTION", value: (entry) => entry.action },
      { title: "BY", value: (entry) => entry.actorLabel },
      { title: "ON", value: (entry) => entry.targetId },
      { title: "ORGANIZATION", value: (entry) => entry.organizationId },
      { title: "ID", value: (entry) => entry.id },
    ],
  }),
  command({
    name: "audit verify",
    summary: "Prove that no entry was altered or taken away, and print the head to keep elsewhere",
    flags: [
      {
        flags: "--head <head>",
        description: "one that was kept: what it stands for must still be there",
      },
    ],
    examples: [
      "till audit verify",
      "till audit verify --head 12:9f86d081884c7d659a2feaa0c55ad015…",
    ],
    effect: "read",
    handle: (service, call) => service.verify(call.context, call.flag("head") ?? null),
    async present(verification) {
      return (await import("./present.ts")).presentVerification(verification);
    },
    columns: [
      { title: "Entries", value: (found) => found.entries },
      { title: "Head", value: (found) => found.head },
    ],
    identify: (found) => found.head,
    async fault({ fault }) {
      if (fault === null) return null;
      const { AuditChainBroken } = await import("./errors.ts");
      return new AuditChainBroken(
        `${fault.message} Compare the store with a backup from before, and find out who could write to it.`,
      );
    },
  }),
];
