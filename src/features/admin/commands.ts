import { commandsOf, pageFlags } from "../../api/command.ts";
import type { Id } from "../../kernel/id.ts";
import type { AdminService } from "./service.ts";

const command = commandsOf<AdminService>();

export const adminCommands = [
  command({
    name: "org list",
    summary: "List organizations, newest first",
    flags: [
      {
        flags: "--verification <status>",
        description:
          "unverified, pending_review, changes_requested, approved or rejected organizations only",
      },
      { flags: "--search <text>", description: "part of a name, an id or an e-mail address" },
      ...pageFlags,
    ],
    examples: ["till org list", "till org list --verification pending_review --json"],
    effect: "read",
    async handle(service, call) {
      const { OrganizationQuery } = await import("./records.ts");
      return service.listOrganizations(
        call.parse(OrganizationQuery, {
          limit: call.flag("limit"),
          cursor: call.flag("cursor"),
          verificationStatus: call.flag("verification"),
          search: call.flag("search"),
        }),
      );
    },
    async present(page) {
      return (await import("./present.ts")).presentOrganizations(page);
    },
    columns: [
      { title: "ID", value: (one) => one.id },
      { title: "NAME", value: (one) => one.displayName },
      { title: "VERIFICATION", value: (one) => one.verificationStatus },
      { title: "STATUS", value: (one) => one.status },
      { title: "OWNER", value: (one) => one.ownerEmail },
      { title: "CREATED", value: (one) => one.createdAt },
    ],
  }),
  command({
    name: "org approve",
    summary: "Approve an organization that waits for its review",
    arguments: [{ name: "organizationId", description: "such as org_01h…" }],
    flags: [{ flags: "--note <text>", description: "what the organization is told" }],
    examples: [
      "till org approve org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till org approve org_01kq3v5m8w2f6n9r4t7x0z1c3e --note 'Welcome' --yes",
    ],
    effect: "write",
    confirm: (call) =>
      `Approve ${call.argument("organizationId")}? It may then issue invoices to payers.`,
    async handle(service, call) {
      const { UpdateOrganizationVerificationRequest } = await import("./records.ts");
      const input = { decision: "approve", note: call.flag("note") };
      return service.decide(
        call.context,
        call.argument("organizationId") as Id<"organization">,
        call.parse(UpdateOrganizationVerificationRequest, input),
      );
    },
    async present(detail) {
      return (await import("./present.ts")).presentOrganizationDetail(detail);
    },
    columns: [
      { title: "Organization", value: (one) => one.id },
      { title: "Name", value: (one) => one.displayName },
      { title: "Verification", value: (one) => one.verificationStatus },
      { title: "Owner", value: (one) => one.ownerEmail },
    ],
    next: (one) => `till key create --organization ${one.id} --name shop --scopes read,write`,
  }),
];
