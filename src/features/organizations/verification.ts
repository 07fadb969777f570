import { AllowanceUsed } from "../../http/declare/problems.ts";
import type { App, InTx } from "../../app.ts";
import type { Instant } from "../../kernel/clock.ts";
import { defineProblem, invalidField } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import type { Tx, WriteContext } from "../../platform/database/database.ts";
import { queryCheck, type Check } from "../../platform/database/schema/checks.ts";
import { difference } from "../../platform/journal.ts";
import { storeLogos } from "./logos.ts";
import { announcementOf, saveOrganization } from "./organizations.ts";
import {
  missingForReview,
  statusAfter,
  verification,
  type Decision,
  type VerificationStatus,
} from "./rules.ts";
import { lockOrganization, organizationReviews, type OrganizationRow } from "./store.ts";

export const KybIncomplete = defineProblem({
  code: "kyb_incomplete",
  status: 422,
  title: "Required fields are missing",
  remedy: "Set the fields that `errors` names with `updateOrganization`, then submit again.",
});
export const VerificationConflict = defineProblem({
  code: "verification_conflict",
  status: 409,
  title: "The organization's verification status does not allow this",
  remedy:
    "Read the organization again: its verification status has changed or does not allow this decision.",
});

export interface DecisionInput {
  readonly decision: Decision;
  readonly note?: string | null | undefined;
}

/** Submits the legal fields for review; 422 names every missing field. */
export function submitKyb(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
): Promise<OrganizationRow> {
  const { db, clock, ids, journal } = app;
  return db.write(context, async (tx) => {
    const at = clock.now();
    const current = await lockOrganization(tx, organizationId);
    requireTransition(current, "pending_review");
    const missing = missingForReview(current);
    if (missing.length > 0) {
      throw new KybIncomplete(`Set these fields, then submit again: ${missing.join(", ")}.`, {
        errors: missing.map((name) => ({
          pointer: `/${name}`,
          code: "required",
          message: "is required for the review",
        })),
      });
    }
    const next = await saveOrganization(tx, at, current, {
      verificationStatus: "pending_review",
      kybSubmittedAt: at,
      reviewNote: null,
    });
    await tx.insert(organizationReviews, {
      id: ids.next("review", at),
      organizationId,
      decision: "submitted",
      fromStatus: current.verificationStatus,
      toStatus: "pending_review",
      note: null,
      reviewerId: null,
      reviewerEmail: null,
      createdAt: at,
    });
    journal.record(tx, at, {
      action: "organization.verification_submitted",
      organizationId,
      subjectType: "organization",
      subjectId: organizationId,
      changes: {
        verificationStatus: { from: current.verificationStatus, to: "pending_review" },
      },
      events: announcementOf(
        "organization.verification_submitted",
        next,
        current.verificationStatus,
      ),
    });
    return next;
  });
}

/**
 * Records a reviewer's decision. An approval also shows the pending name and logo to payers. While an approved
 * organization has one of them, the decision is about it and the organization stays approved. Of two concurrent
 * decisions, the second gets 409. `expect` receives the locked organization and throws
 * if the reviewer has read another version.
 */
export async function decideVerification(
  tx: Tx,
  app: InTx,
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
  const next = await saveOrganization(tx, at, current, {
    ...sign,
    verificationStatus: to,
    reviewNote: note,
    reviewedAt: at,
  });
  await storeLogos(tx, next, null);
  if (isApproved) await forgetAllowance(tx, organizationId);
  const action = isAboutSign ? "organization.updated" : (`organization.${to}` as const);
  const { actor } = tx.context;
  await tx.insert(organizationReviews, {
    id: app.ids.next("review", at),
    organizationId,
    decision: input.decision,
    fromStatus: current.verificationStatus,
    toStatus: to,
    note,
    reviewerId: actor.id,
    reviewerEmail: actor.type === "user" ? actor.label : null,
    createdAt: at,
  });
  app.journal.record(tx, at, {
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

/** Throws 409 unless the review may move from its current state to another. */
function requireTransition(current: OrganizationRow, to: VerificationStatus): void {
  if (verification.allows(current.verificationStatus, to)) return;
  throw new VerificationConflict(
    `The organization is ${current.verificationStatus} and cannot become ${to}. Read it again before you decide.`,
  );
}

export const organizationChecks: readonly Check[] = [
  queryCheck({
    name: "organizations.verification",
    describe: "An organization's verification status matches its review history.",
    advice:
      "Read the history with till org show, then decide again with till org approve or till org reject.",
    // Two exceptions: changing a legal field revokes an approval without a decision, and the platform organization
    // starts approved.
    sql: `SELECT organizations.id AS "row",
        'It is ' || verification_status || ' and its last decision made it ' || COALESCE(last.to_status, 'unverified') || '.'
          AS fault
      FROM organizations LEFT JOIN organization_reviews AS last ON last.id = (
        SELECT MAX(review.id) FROM organization_reviews AS review
        WHERE review.organization_id = organizations.id
      )
      WHERE is_platform = 0 AND verification_status <> COALESCE(last.to_status, 'unverified')
        AND NOT (verification_status = 'unverified' AND last.to_status = 'approved')
      ORDER BY organizations.id`,
  }),
];

/** The bytes that an organization may store before its approval: texts of rows, events, audit entries and kept answers. */
export const unapprovedBytesMax = 32 * 1_024 ** 2;
/** The part of these bytes that is left for requests that create nothing, such as those of the approval itself. */
const reservedBytes = 4 * 1_024 ** 2;
/** The number of drafts that an organization may create before its approval; deleted ones count. */
export const unapprovedDraftsMax = 1_000;

/**
 * Returns a function that counts what a transaction of an organization without approval has written. It throws
 * `allowance_used`, so that nothing of it stays, if the organization has then stored more than it may.
 */
export function spendAllowance(
  organizationId: Id<"organization">,
  isCreation: boolean,
): WriteContext["spend"] {
  return async (tx, { bytes, appended }) => {
    const drafts = appended.get("invoices") ?? 0;
    const most = unapprovedBytesMax - (isCreation ? reservedBytes : 0);
    const counted = await tx.run(
      `INSERT INTO organization_allowances (organization_id, bytes, drafts) VALUES ($1, $2, $3)
       ON CONFLICT (organization_id) DO UPDATE SET
         bytes = organization_allowances.bytes + excluded.bytes,
         drafts = organization_allowances.drafts + excluded.drafts
       WHERE organization_allowances.bytes + excluded.bytes <= $4
         AND (excluded.drafts = 0 OR organization_allowances.drafts + excluded.drafts <= $5)`,
      [organizationId, bytes, drafts, most, unapprovedDraftsMax],
    );
    if (counted === 1 && bytes <= most && drafts <= unapprovedDraftsMax) return;
    throw new AllowanceUsed(
      `Before its approval, an organization may create ${String(unapprovedDraftsMax)} drafts and store ${String(unapprovedBytesMax / 1_024 ** 2)} MiB. Submit it for review; requests that create nothing still work for a while.`,
    );
  };
}

/** Ends the count at an approval: an organization that needs another one later begins at zero. */
async function forgetAllowance(tx: Tx, organizationId: Id<"organization">): Promise<void> {
  await tx.run("DELETE FROM organization_allowances WHERE organization_id = $1", [organizationId]);
}
