// The admin operations that the terminal has too. They stand apart, so that a command does not load the others.
import type { App } from "../../app.ts";
import {
  neededOrganization,
  section,
  type CommandCall,
  type OwnFlag,
} from "../../http/declare/command.ts";
import { platform } from "../../http/declare/permissions.ts";
import { operation } from "../../http/declare/operation.ts";
import { toIsoOrNull } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import { listAuditLogs } from "../audit-logs/audit-logs.ts";
import {
  adminAuditLogQuery,
  AuditLogListRecord,
  presentAuditLogs,
  withTimes,
} from "../audit-logs/records.ts";
import { VerificationConflict } from "../organizations/verification.ts";
import { paymentStatuses } from "../payments/payment-status.ts";
import { platformPaymentQuery, readPaymentQuery } from "../payments/records.ts";
import {
  getOrganizationDetail,
  listAllOrganizations,
  reviewOrganization,
} from "./organizations.ts";
import { AdminPaymentListRecord, presentPlatformPayments } from "./oversight-records.ts";
import { listOwnedPayments } from "./oversight.ts";
import {
  AdminOrganizationDetailRecord,
  AdminOrganizationListRecord,
  organizationQuery,
  outcomeColumns,
  presentOrganizationDetail,
  presentOrganizations,
  UpdateOrganizationVerificationRequest,
} from "./records.ts";

const access = platform("platform:read");

const note: OwnFlag = { description: "message to the organization" };
const neededNote: OwnFlag = { ...note, ask: "Message to the organization" };

/** Reads an organization with everything that it submitted for its review. */
async function lookForReview(app: App, call: CommandCall) {
  const detail = await getOrganizationDetail(
    app,
    call.argument("organizationId") as Id<"organization">,
  );
  const before = presentOrganizationDetail(detail);
  return {
    subject: `${before.displayName} (${before.id}), ${before.verificationStatus}`,
    version: detail.version,
    again: `till org show ${before.id}`,
    before,
    facts: [
      ["Submitted", toIsoOrNull(detail.organization.kybSubmittedAt)],
      ["Legal name", before.legalName],
      ["Registration number", before.registrationNumber],
      ["Country", before.country],
      ["Address", before.address],
      ["Business", before.businessDescription],
      ["Website", before.website],
      ["Contact", before.contactEmail],
      ["Owner", before.ownerEmail],
      ["Name for payers", before.pendingDisplayName ?? before.displayName],
      ["Logo", before.pendingLogoPath ?? before.logoPath],
      ["Wallets", before.wallets.map(({ network, address }) => `${network} ${address}`)],
      ["Last note", before.reviewNote],
    ] as const,
  };
}

export const oversightOperations = [
  operation({
    id: "adminListOrganizations",
    group: "Admin",
    method: "GET",
    path: "/admin/organizations",
    summary: "List organizations",
    description:
      "`search` matches part of a name or of the contact's e-mail address, ignoring case, or a complete id.",
    access,
    request: { query: organizationQuery },
    response: { status: 200, record: AdminOrganizationListRecord },
    errors: [],
    handle: (app, call) => listAllOrganizations(app, call.query),
    present: presentOrganizations,
    cli: {
      name: "org list",
      summary: "List organizations, newest first",
      flags: {
        verificationStatus: {
          name: "verification",
          description:
            "only organizations with this status: unverified, pending_review, changes_requested, approved or rejected",
        },
        search: { description: "part of a name, an id or an e-mail address" },
      },
      examples: ["till org list", "till org list --verification pending_review --json"],
      columns: [
        "id",
        ["displayName", "Name"],
        "verificationStatus",
        "status",
        "ownerEmail",
        "createdAt",
      ],
    },
  }),
  operation({
    id: "adminGetOrganization",
    group: "Admin",
    method: "GET",
    path: "/admin/organizations/{organizationId}",
    summary: "Get an organization with its members, wallets and reviews",
    access,
    response: { status: 200, record: AdminOrganizationDetailRecord },
    errors: [],
    handle: (app, call) => getOrganizationDetail(app, call.params.organizationId),
    present: presentOrganizationDetail,
    cli: {
      name: "org show",
      summary: "Show an organization: its profile, members, wallets and reviews",
      organization: "argument",
      examples: [
        "till org show org_01kq3v5m8w2f6n9r4t7x0z1c3e",
        "till org show org_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
      ],
      columns: [
        ...outcomeColumns,
        ["pendingDisplayName", "Requested name"],
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
    },
  }),
  operation({
    id: "adminUpdateOrganizationVerification",
    group: "Admin",
    method: "POST",
    path: "/admin/organizations/{organizationId}/verification",
    summary: "Approve, reject or request changes of an organization's verification",
    description:
      "An approval also shows the pending display name and the pending logo to payers. While an approved organization has one of them, `approve` and `reject` decide on them, and the organization stays approved. With `If-Match` and the ETag of the organization as read, the decision applies only to that version; if it was changed or decided in the meantime, the response is 412.",
    access: platform("platform:write"),
    request: { body: UpdateOrganizationVerificationRequest },
    response: { status: 200, record: AdminOrganizationDetailRecord },
    errors: [VerificationConflict],
    conditional: true,
    handle: (app, call) =>
      reviewOrganization(app, call.context, call.params.organizationId, call.body, call.expect),
    present: presentOrganizationDetail,
    cli: [
      {
        name: "org approve",
        summary: "Approve an organization that awaits its review",
        organization: "argument",
        flags: { decision: { value: "approve" }, note },
        examples: [
          "till org approve org_01kq3v5m8w2f6n9r4t7x0z1c3e",
          "till org approve org_01kq3v5m8w2f6n9r4t7x0z1c3e --note 'Welcome' --yes",
        ],
        look: lookForReview,
        confirm: (_call, subject) => `Approve ${subject}? It can then issue invoices.`,
        columns: outcomeColumns,
        next: (one) => `till key create --organization ${one.id} --name shop --scopes shop`,
      },
      {
        name: "org reject",
        summary: "Reject an organization that awaits its review",
        organization: "argument",
        flags: { decision: { value: "reject" }, note: neededNote },
        examples: [
          "till org reject org_01kq3v5m8w2f6n9r4t7x0z1c3e --note 'Not found in the company register'",
          "till org reject org_01kq3v5m8w2f6n9r4t7x0z1c3e --note 'No such company' --yes",
        ],
        look: lookForReview,
        confirm: (_call, subject) =>
          `Reject ${subject}? It can change its profile and submit it again.`,
        columns: outcomeColumns,
      },
      {
        name: "org request-changes",
        summary: "Return an organization's submission with a request for changes",
        organization: "argument",
        flags: { decision: { value: "request_changes" }, note: neededNote },
        examples: [
          "till org request-changes org_01kq3v5m8w2f6n9r4t7x0z1c3e --note 'Give the full address'",
          "till org request-changes org_01kq3v5m8w2f6n9r4t7x0z1c3e --note 'Full address' --yes",
        ],
        look: lookForReview,
        confirm: (_call, subject) => `Ask ${subject} for changes?`,
        columns: outcomeColumns,
      },
    ],
  }),
  operation({
    id: "adminListPayments",
    group: "Admin",
    method: "GET",
    path: "/admin/payments",
    summary: "List the payments of all organizations",
    access,
    request: { query: platformPaymentQuery },
    response: { status: 200, record: AdminPaymentListRecord },
    errors: [],
    handle: (app, call) => listOwnedPayments(app, readPaymentQuery(call.query)),
    present: presentPlatformPayments,
    cli: {
      name: "payments list",
      summary: "List payments, newest first",
      flags: {
        organizationId: {
          description: `with --paid-from, --paid-to or another --sort than createdAt: ${neededOrganization.description}; otherwise all`,
          isNeededIf: (call) =>
            (call.flag("paid-from") ?? call.flag("paid-to")) !== undefined ||
            !/^-?createdAt$/.test(call.flag("sort") ?? "createdAt"),
        },
        status: {
          description: "only payments with this status, or several: confirming,review",
          choices: paymentStatuses,
          isList: true,
        },
        invoiceId: {
          description: "only payments of this invoice, by its id or your externalId",
        },
        network: { description: "only payments on this network" },
        tokenSymbol: { description: "only payments in this token" },
        transactionHash: { description: "only payments of this transaction" },
        fromAddress: { description: "only payments from this address" },
        walletId: { description: "only payments that this wallet received" },
        paidFrom: { description: "in a block at or after this time" },
        paidTo: { description: "in a block before this time" },
        sort: {
          placeholder: "order",
          description: "createdAt, blockTime or amount, with a leading - for descending order",
        },
      },
      examples: [
        "till payments list",
        "till payments list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --status confirmed --json",
      ],
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
        ["isVerified", "Verified"],
        "blockTime",
      ],
    },
  }),
];

export const listAuditLogsOperation = operation({
  id: "adminListAuditLogs",
  group: "Admin",
  method: "GET",
  path: "/admin/audit-logs",
  summary: "List audit log entries of all organizations",
  description:
    "Entries that concern only a user, such as logins, have no organization. `createdFrom` is inclusive, `createdTo` exclusive.",
  access,
  request: { query: adminAuditLogQuery },
  response: { status: 200, record: AuditLogListRecord },
  errors: [],
  handle(app, call) {
    const { organizationId, ...query } = withTimes(call.query);
    return listAuditLogs(app, organizationId ?? "all", query);
  },
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
});
