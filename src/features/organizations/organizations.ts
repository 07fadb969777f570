import { forgetAllowance } from "./allowance.ts";
import { bind, type Bound } from "../../kernel/bind.ts";
import type { Clock, Instant } from "../../kernel/clock.ts";
import { invalidField } from "../../kernel/errors.ts";
import type { Id, IdSource } from "../../kernel/id.ts";
import { difference, type Journal } from "../../platform/journal/index.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import type { InTx } from "../../app.ts";
import { addMembership } from "../members/members.ts";
import { PlatformStays } from "./errors.ts";
import { keepLogos } from "./branding/logos.ts";
import { lateWindowDays, statusAfter, type Decision } from "./rules.ts";
import { announcementOf, requireTransition, save } from "./saving.ts";
import { lockOrganization } from "./store.ts";
import { organizationReviews, organizations, type OrganizationRow } from "./table.ts";

export interface DecisionInput {
  readonly decision: Decision;
  readonly note?: string | null | undefined;
}

/** Changes to organizations inside other features' transactions. */
export type Organizations = Bound<typeof methods>;

export interface OrganizationDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly journal: Journal;
  readonly app: InTx;
  /** If `required`, a new name or logo of a reviewed organization reaches payers only after the next approval. */
  readonly verification: "required" | "off";
}

const methods = { add, decide, setStatus };

export function makeOrganizations(deps: OrganizationDependencies): Organizations {
  return bind(deps, methods);
}

async function add(
  { ids, journal, app }: OrganizationDependencies,
  tx: Tx,
  at: Instant,
  {
    name,
    ownerId,
    isPlatform = false,
  }: {
    readonly name: string;
    readonly ownerId: Id<"user"> | null;
    readonly isPlatform?: boolean;
  },
): Promise<OrganizationRow> {
  const row: OrganizationRow = {
    id: ids.next("organization", at),
    name,
    displayName: name,
    pendingDisplayName: null,
    accentColor: null,
    logo: null,
    pendingLogo: null,
    isPlatform,
    status: "active",
    verificationStatus: isPlatform ? "approved" : "unverified",
    legalName: null,
    registrationNumber: null,
    country: null,
    address: null,
    website: null,
    contactEmail: null,
    businessDescription: null,
    reviewNote: null,
    kybSubmittedAt: null,
    reviewedAt: null,
    latePayments: "accept",
    lateWindowDays: lateWindowDays.usual,
    allowedOrigins: [],
    paymentOptions: null,
    createdBy: ownerId,
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
  await tx.insert(organizations, row);
  journal.record(tx, at, {
    action: "organization.created",
    organizationId: row.id,
    subjectType: "organization",
    subjectId: row.id,
    changes: { name },
  });
  if (ownerId !== null) {
    await addMembership(tx, app, at, {
      userId: ownerId,
      organizationId: row.id,
      role: "owner",
    });
  }
  return row;
}

/**
 * Records a reviewer's decision. An approval also shows the pending name and logo to payers. While an approved
 * organization has one of them, the decision is about it and the organization stays approved. Of two concurrent
 * decisions, the second gets 409. `expect` receives the locked organization and throws if the reviewer has read another version.
 */
async function decide(
  { ids, journal }: OrganizationDependencies,
  tx: Tx,
  at: Instant,
  organizationId: Id<"organization">,
  input: DecisionInput,
  expect?: (current: OrganizationRow) => Promise<void>,
): Promise<OrganizationRow> {
  const note = input.note ?? null;
  if (note === null && input.decision !== "approve") {
    throw invalidField("/note", "required", "is required to reject and to request changes");
  }
  const current = await lockOrganization(tx, organizationId);
  await expect?.(current);
  const isAboutSign = decidesSign(current, input.decision);
  const to = isAboutSign ? "approved" : statusAfter[input.decision];
  if (!isAboutSign) requireTransition(current, to);
  const isApproved = input.decision === "approve";
  const sign = {
    ...(isApproved
      ? {
          displayName: current.pendingDisplayName ?? current.displayName,
          logo: current.pendingLogo ?? current.logo,
        }
      : {}),
    ...(isApproved || isAboutSign ? { pendingDisplayName: null, pendingLogo: null } : {}),
  };
  const next = await save(tx, at, current, {
    ...sign,
    verificationStatus: to,
    reviewNote: note,
    reviewedAt: at,
  });
  await keepLogos(tx, next, null);
  if (isApproved) await forgetAllowance(tx, organizationId);
  const action = isAboutSign ? "organization.updated" : (`organization.${to}` as const);
  const { actor } = tx.context;
  await tx.insert(organizationReviews, {
    id: ids.next("review", at),
    organizationId,
    decision: input.decision,
    fromStatus: current.verificationStatus,
    toStatus: to,
    note,
    reviewerId: actor.id,
    reviewerEmail: actor.type === "user" ? actor.label : null,
    createdAt: at,
  });
  journal.record(tx, at, {
    action,
    organizationId,
    subjectType: "organization",
    subjectId: organizationId,
    changes: {
      ...difference(current, sign),
      verificationStatus: { from: current.verificationStatus, to },
      reviewNote: { from: current.reviewNote, to: note },
    },
    events: announcementOf(action, next, current.verificationStatus),
  });
  return next;
}

/**
 * Suspends an organization, which makes it read-only, or resumes it. Repeating has no effect. The platform
 * organization is a 409, because its own admins could then no longer resume it.
 */
async function setStatus(
  { journal }: OrganizationDependencies,
  tx: Tx,
  at: Instant,
  organizationId: Id<"organization">,
  status: OrganizationRow["status"],
): Promise<OrganizationRow> {
  const current = await lockOrganization(tx, organizationId);
  if (current.status === status) return current;
  if (current.isPlatform) {
    throw new PlatformStays("The platform organization cannot be suspended.");
  }
  const next = await save(tx, at, current, { status });
  const action = status === "suspended" ? "organization.suspended" : "organization.resumed";
  journal.record(tx, at, {
    action,
    organizationId,
    subjectType: "organization",
    subjectId: organizationId,
    changes: { status: { from: current.status, to: status } },
    events: announcementOf(action, next, current.status),
  });
  return next;
}

/** Whether a decision is about an approved organization's pending name or logo. */
function decidesSign(
  { verificationStatus, pendingDisplayName, pendingLogo }: OrganizationRow,
  decision: Decision,
): boolean {
  return (
    verificationStatus === "approved" &&
    (pendingDisplayName !== null || pendingLogo !== null) &&
    decision !== "request_changes"
  );
}
