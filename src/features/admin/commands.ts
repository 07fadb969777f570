import type { App } from "../../app.ts";
import {
  command,
  organizationArgument,
  pageFlags,
  section,
  type Column,
  type CommandCall,
  type CommandFlag,
  type Looked,
} from "../../http/declare/command.ts";
import { toIsoOrNull } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import { verificationStatuses } from "../organizations/rules.ts";
import { VerificationConflict } from "../organizations/verification.ts";
import {
  changeOrganizationStatus,
  getOrganizationDetail,
  listAllOrganizations,
  reviewOrganization,
  type OrganizationDetail,
} from "./organizations.ts";
import {
  OrganizationQuery,
  presentOrganizationDetail,
  presentOrganizations,
  UpdateOrganizationVerificationRequest,
} from "./records.ts";

type ShownDetail = ReturnType<typeof presentOrganizationDetail>;

const neededNote: CommandFlag = {
  flags: "--note <text>",
  description: "message to the organization",
  ask: "Message to the organization",
};

/** Columns of an organization after a decision or status change. */
const outcome: readonly Column<ShownDetail>[] = [
  "id",
  ["displayName", "Name"],
  "status",
  "verificationStatus",
  "ownerEmail",
  ["logoPath", "Logo"],
];

export const adminCommands = [
  command({
    name: "org list",
    summary: "List organizations, newest first",
    flags: [
      {
        flags: "--verification <status>",
        field: "verificationStatus",
        choices: verificationStatuses,
        description:
          "only organizations with this status: unverified, pending_review, changes_requested, approved or rejected",
      },
      { flags: "--search <text>", description: "part of a name, an id or an e-mail address" },
      ...pageFlags,
    ],
    examples: ["till org list", "till org list --verification pending_review --json"],
    effect: "read",
    handle: (app, call) =>
      listAllOrganizations(
        app,
        call.parse(OrganizationQuery, {
          limit: call.flag("limit"),
          cursor: call.flag("cursor"),
          verificationStatus: call.flag("verification"),
          search: call.flag("search"),
        }),
      ),
    present: presentOrganizations,
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
    arguments: [organizationArgument],
    examples: [
      "till org show org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till org show org_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
    ],
    effect: "read",
    handle: (app, call) => getOrganizationDetail(app, idOf(call)),
    present: presentOrganizationDetail,
    columns: [
      ...outcome,
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
  }),
  command({
    name: "org approve",
    summary: "Approve an organization that awaits its review",
    arguments: [organizationArgument],
    flags: [{ flags: "--note <text>", description: "message to the organization" }],
    examples: [
      "till org approve org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till org approve org_01kq3v5m8w2f6n9r4t7x0z1c3e --note 'Welcome' --yes",
    ],
    effect: "write",
    look: lookForReview,
    confirm: (_call, subject) => `Approve ${subject}? It can then issue invoices.`,
    handle: (app, call, looked) => decide(app, call, "approve", looked),
    present: presentOrganizationDetail,
    columns: outcome,
    next: (one) => `till key create --organization ${one.id} --name shop --scopes shop`,
  }),
  command({
    name: "org reject",
    summary: "Reject an organization that awaits its review",
    arguments: [organizationArgument],
    flags: [neededNote],
    examples: [
      "till org reject org_01kq3v5m8w2f6n9r4t7x0z1c3e --note 'Not found in the company register'",
      "till org reject org_01kq3v5m8w2f6n9r4t7x0z1c3e --note 'No such company' --yes",
    ],
    effect: "write",
    look: lookForReview,
    confirm: (_call, subject) =>
      `Reject ${subject}? It can change its profile and submit it again.`,
    handle: (app, call, looked) => decide(app, call, "reject", looked),
    present: presentOrganizationDetail,
    columns: outcome,
  }),
  command({
    name: "org request-changes",
    summary: "Return an organization's submission with a request for changes",
    arguments: [organizationArgument],
    flags: [neededNote],
    examples: [
      "till org request-changes org_01kq3v5m8w2f6n9r4t7x0z1c3e --note 'Give the full address'",
      "till org request-changes org_01kq3v5m8w2f6n9r4t7x0z1c3e --note 'Full address' --yes",
    ],
    effect: "write",
    look: lookForReview,
    confirm: (_call, subject) => `Ask ${subject} for changes?`,
    handle: (app, call, looked) => decide(app, call, "request_changes", looked),
    present: presentOrganizationDetail,
    columns: outcome,
  }),
  command({
    name: "org suspend",
    summary: "Suspend an organization: it becomes read-only",
    arguments: [organizationArgument],
    examples: [
      "till org suspend org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till org suspend org_01kq3v5m8w2f6n9r4t7x0z1c3e --yes --json",
    ],
    effect: "write",
    look,
    confirm: (_call, subject) =>
      `Suspend ${subject}? Its writes are refused immediately; incoming payments are still credited.`,
    handle: (app, call) => setStatus(app, call, "suspended"),
    present: presentOrganizationDetail,
    columns: outcome,
    next: (one) => `till org resume ${one.id} lifts the suspension`,
  }),
  command({
    name: "org resume",
    summary: "Lift an organization's suspension",
    arguments: [organizationArgument],
    examples: [
      "till org resume org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till org resume org_01kq3v5m8w2f6n9r4t7x0z1c3e --yes --json",
    ],
    effect: "write",
    look,
    confirm: (_call, subject) => `Resume ${subject}? Its writes are accepted again.`,
    handle: (app, call) => setStatus(app, call, "active"),
    present: presentOrganizationDetail,
    columns: outcome,
  }),
];

function idOf(call: CommandCall): Id<"organization"> {
  return call.argument("organizationId") as Id<"organization">;
}

async function look(app: App, call: CommandCall): Promise<Looked<ShownDetail>> {
  const before = presentOrganizationDetail(await getOrganizationDetail(app, idOf(call)));
  return { subject: inWords(before, before.status), before };
}

/** Reads an organization with everything that it submitted for its review. */
async function lookForReview(app: App, call: CommandCall): Promise<Looked<ShownDetail>> {
  const detail = await getOrganizationDetail(app, idOf(call));
  const before = presentOrganizationDetail(detail);
  return {
    subject: inWords(before, before.verificationStatus),
    version: detail.organization.version,
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
    ],
  };
}

function inWords({ id, displayName }: ShownDetail, state: string): string {
  return `${displayName} (${id}), ${state}`;
}

function setStatus(app: App, call: CommandCall, status: "active" | "suspended") {
  return changeOrganizationStatus(app, call.context, idOf(call), status);
}

function decide(
  app: App,
  call: CommandCall,
  decision: "approve" | "reject" | "request_changes",
  looked: Looked<ShownDetail> | null,
): Promise<OrganizationDetail> {
  const input = { decision, note: call.flag("note") };
  return reviewOrganization(
    app,
    call.context,
    idOf(call),
    call.parse(UpdateOrganizationVerificationRequest, input),
    ({ organization: { id, version } }) => {
      if (looked === null || looked.version === version) return;
      throw new VerificationConflict(
        `The organization was changed after the question. Look at it again with till org show ${id}, then repeat the command.`,
      );
    },
  );
}
