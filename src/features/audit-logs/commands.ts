import { command } from "../../http/declare/command.ts";
import { defineProblem } from "../../kernel/errors.ts";
import { verifyAuditLog } from "./audit-logs.ts";
import { presentVerification } from "./records.ts";

const AuditChainBroken = defineProblem({
  code: "audit_chain_broken",
  status: 422,
  title: "The hash chain of the audit log is broken",
});

export const auditCommands = [
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
