import {
  commandsOf,
  organizationFlag,
  pageFlags,
  section,
  type Column,
  type CommandArgument,
  type CommandCall,
  type CommandFlag,
} from "../../api/declare/command.ts";
import type { Id } from "../../kernel/id.ts";
import type { OversightService } from "./cross-organization/queries.ts";
import type { AdminService, OrganizationDetail } from "./service.ts";

type ShownDetail = Awaited<ReturnType<typeof presentDetail>>;

const command = commandsOf<AdminService>();

const organizationId: CommandArgument = {
  name: "organizationId",
  description: "such as org_01h…",
};
const neededNote: CommandFlag = {
  flags: "--note <text>",
  description: "message to the organization",
  ask: "Message to the organization",
};

/** The versions of the organizations that the questions of these calls described. */
const askedVersions = new WeakMap<CommandCall, number>();

/** Columns of an organization after a decision or status change. */
const outcome: readonly Column<ShownDetail>[] = [
  "id",
  ["displayName", "Name"],
  "status",
  "verificationStatus",
  "ownerEmail",
];

export const adminCommands = [
  command({
    name: "org list",
    summary: "List organizations, newest first",
    flags: [
      {
        flags: "--verification <status>",
        description:
          "only organizations with this status: unverified, pending_review, changes_requested, approved or rejected",
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
      "id",
      ["displayName", "Name"],
      "verificationStatus",
      "status",
      "ownerEmail",
      "createdAt",
    ],
  }),
  command({
    name: "org show",
    summary: "Show an organization: its profile, members, wallets and reviews",
    arguments: [organizationId],
    examples: [
      "till org show org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till org show org_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
    ],
    effect: "read",
    handle: (service, call) => service.getOrganization(idOf(call)),
    present: presentDetail,
    columns: [
      ...outcome,
      ["pendingDisplayName", "Requested name"],
      ["logoPath", "Logo"],
      ["pendingLogoPath", "Requested logo"],
      "accentColor",
      ["legalName", "Legal name"],
      "registrationNumber",
      "country",
      "address",
      "businessDescription",
      "website",
      "contactEmail",
      "createdAt",
    ],
    sections: (one) => [
      section({
        title: "Members",
        items: one.members,
        columns: ["id", "email", "name", "role"],
      }),
      section({
        title: "Wallets",
        items: one.wallets,
        columns: ["id", "label", "network", "address", "status"],
      }),
      section({
        title: "Reviews",
        items: one.reviewHistory,
        columns: ["createdAt", "decision", ["toStatus", "New status"], "note"],
      }),
    ],
  }),
  command({
    name: "org approve",
    summary: "Approve an organization that awaits its review",
    arguments: [organizationId],
    flags: [{ flags: "--note <text>", description: "message to the organization" }],
    examples: [
      "till org approve org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till org approve org_01kq3v5m8w2f6n9r4t7x0z1c3e --note 'Welcome' --yes",
    ],
    effect: "write",
    confirm: (call) => `Approve ${call.argument("organizationId")}? It can then issue invoices.`,
    ask: async (service, call) => {
      const { organization } = await service.getOrganization(idOf(call));
      const { legalName, displayName, pendingDisplayName, pendingLogo, version } = organization;
      askedVersions.set(call, version);
      const name = JSON.stringify(pendingDisplayName ?? displayName);
      const { logoPath } = await import("../organizations/index.ts");
      const logo = pendingLogo === null ? "" : ` and the logo at ${logoPath(pendingLogo) ?? ""}`;
      return `Approve ${legalName ?? displayName} (${organization.id})? Payers see the name ${name}${logo}, and it can issue invoices.`;
    },
    handle: (service, call) => decide(service, call, "approve"),
    present: presentDetail,
    columns: outcome,
    next: (one) => `till key create --organization ${one.id} --name shop --scopes read,write`,
  }),
  command({
    name: "org reject",
    summary: "Reject an organization that awaits its review",
    arguments: [organizationId],
    flags: [neededNote],
    examples: [
      "till org reject org_01kq3v5m8w2f6n9r4t7x0z1c3e --note 'Not found in the company register'",
      "till org reject org_01kq3v5m8w2f6n9r4t7x0z1c3e --note 'No such company' --yes",
    ],
    effect: "write",
    confirm: (call) =>
      `Reject ${call.argument("organizationId")}? It can change its profile and submit it again.`,
    handle: (service, call) => decide(service, call, "reject"),
    present: presentDetail,
    columns: outcome,
  }),
  command({
    name: "org request-changes",
    summary: "Return an organization's submission with a request for changes",
    arguments: [organizationId],
    flags: [neededNote],
    examples: [
      "till org request-changes org_01kq3v5m8w2f6n9r4t7x0z1c3e --note 'Give the full address'",
      "till org request-changes org_01kq3v5m8w2f6n9r4t7x0z1c3e --note 'Full address' --yes",
    ],
    effect: "write",
    confirm: (call) => `Ask ${call.argument("organizationId")} for changes?`,
    handle: (service, call) => decide(service, call, "request_changes"),
    present: presentDetail,
    columns: outcome,
  }),
  command({
    name: "org suspend",
    summary: "Suspend an organization: it becomes read-only",
    arguments: [organizationId],
    examples: [
      "till org suspend org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till org suspend org_01kq3v5m8w2f6n9r4t7x0z1c3e --yes --json",
    ],
    effect: "write",
    confirm: (call) =>
      `Suspend ${call.argument("organizationId")}? Its writes are refused immediately; incoming payments are still credited.`,
    handle: (service, call) => service.setStatus(call.context, idOf(call), "suspended"),
    present: presentDetail,
    columns: outcome,
    next: (one) => `till org resume ${one.id} lifts the suspension`,
  }),
  command({
    name: "org resume",
    summary: "Lift an organization's suspension",
    arguments: [organizationId],
    examples: [
      "till org resume org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till org resume org_01kq3v5m8w2f6n9r4t7x0z1c3e --yes --json",
    ],
    effect: "write",
    confirm: (call) => `Resume ${call.argument("organizationId")}? Its writes are accepted again.`,
    handle: (service, call) => service.setStatus(call.context, idOf(call), "active"),
    present: presentDetail,
    columns: outcome,
  }),
];

const oversight = commandsOf<OversightService>();

export const oversightCommands = [
  oversight({
    name: "payments list",
    summary: "List payments, newest first",
    flags: [
      organizationFlag,
      {
        flags: "--status <status>",
        description: "only payments with this status, or several: confirming,review",
      },
      { flags: "--invoice-id <id>", description: "only payments of this invoice" },
      { flags: "--network <id>", description: "only payments on this network" },
      { flags: "--token-symbol <symbol>", description: "only payments in this token" },
      { flags: "--transaction-hash <hash>", description: "only payments of this transaction" },
      { flags: "--from-address <address>", description: "only payments from this address" },
      {
        flags: "--created-from <time>",
        description: "created at or after this time, such as 2031-01-31T00:00:00.000Z",
      },
      { flags: "--created-to <time>", description: "created before this time" },
      {
        flags: "--paid-from <time>",
        description: "in a block at or after this time; requires --organization",
      },
      {
        flags: "--paid-to <time>",
        description: "in a block before this time; requires --organization",
      },
      {
        flags: "--sort <order>",
        description:
          "createdAt, blockTime or amount, with a leading - for descending order; all but createdAt require --organization",
      },
      ...pageFlags,
    ],
    examples: [
      "till payments list",
      "till payments list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --status confirmed --json",
    ],
    effect: "read",
    async handle(service, call) {
      const { PlatformPaymentQuery } = await import("./cross-organization/records.ts");
      const { readPaymentQuery } = await import("../payments/index.ts");
      const query = call.parse(PlatformPaymentQuery, {
        limit: call.flag("limit"),
        cursor: call.flag("cursor"),
        organizationId: call.flag("organization"),
        status: call.flag("status"),
        invoiceId: call.flag("invoice-id"),
        network: call.flag("network"),
        tokenSymbol: call.flag("token-symbol"),
        transactionHash: call.flag("transaction-hash"),
        fromAddress: call.flag("from-address"),
        createdFrom: call.flag("created-from"),
        createdTo: call.flag("created-to"),
        paidFrom: call.flag("paid-from"),
        paidTo: call.flag("paid-to"),
        sort: call.flag("sort"),
      });
      return service.listPayments(readPaymentQuery(query));
    },
    async present(page) {
      return (await import("./cross-organization/present.ts")).presentPlatformPayments(page);
    },
    columns: [
      "id",
      "organizationName",
      "invoiceId",
      "amount tokenSymbol",
      "network",
      "status",
      {
        title: "Confirmations",
        value: (one) => `${String(one.confirmations)}/${String(one.requiredConfirmations)}`,
      },
      "blockTime",
    ],
  }),
  oversight({
    name: "payments show",
    summary: "Show a payment of any organization",
    arguments: [{ name: "paymentId", description: "such as pay_01h…" }],
    examples: [
      "till payments show pay_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till payments show pay_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
    ],
    effect: "read",
    handle: (service, call) => service.findPayment(call.argument("paymentId") as Id<"payment">),
    async present(payment) {
      return (await import("./cross-organization/present.ts")).presentPlatformPayment(payment);
    },
    columns: [
      "id",
      { title: "Organization", value: (one) => `${one.organizationName} (${one.organizationId})` },
      "invoiceId",
      "status",
      "amount tokenSymbol",
      ["settlementAmount settlementCurrency", "Counts as"],
      "network",
      "transactionHash",
      "fromAddress",
      "toAddress",
      "blockNumber",
      "blockTime",
      {
        title: "Confirmations",
        value: (one) => `${String(one.confirmations)}/${String(one.requiredConfirmations)}`,
      },
      "source",
      "confirmedAt",
    ],
  }),
];

function idOf(call: CommandCall): Id<"organization"> {
  return call.argument("organizationId") as Id<"organization">;
}

async function decide(
  service: AdminService,
  call: CommandCall,
  decision: "approve" | "reject" | "request_changes",
): Promise<OrganizationDetail> {
  const { UpdateOrganizationVerificationRequest } = await import("./records.ts");
  const { VerificationConflict } = await import("../organizations/index.ts");
  const input = { decision, note: call.flag("note") };
  const asked = askedVersions.get(call);
  return service.decide(
    call.context,
    idOf(call),
    call.parse(UpdateOrganizationVerificationRequest, input),
    ({ organization: { id, version } }) => {
      if (asked === undefined || asked === version) return;
      throw new VerificationConflict(
        `The organization was changed after the question. Look at it again with till org show ${id}, then repeat the command.`,
      );
    },
  );
}

async function presentDetail(detail: OrganizationDetail) {
  return (await import("./present.ts")).presentOrganizationDetail(detail);
}
