import { day } from "../../kernel/clock.ts";
import { notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import type { PageRequest } from "../../kernel/page.ts";
import { columns, decodeRows } from "../../platform/database/schema/statements.ts";
import { hasTable } from "../../platform/database/schema/migrate.ts";
import type { Reader, Tx } from "../../platform/database/database.ts";
import {
  flag,
  integer,
  json,
  table,
  text,
  time,
  type RowOf,
  type SqlValue,
} from "../../platform/database/schema/table.ts";
import { listed } from "../../platform/database/query/json-rows.ts";
import { pageQuery } from "../../platform/database/query/lists.ts";
import type { PaymentOption } from "./checkout-policy.ts";
import {
  lateWindowDays,
  type Decision,
  type LatePayments,
  type VerificationStatus,
} from "./rules.ts";

export const organizations = table(
  "organizations",
  {
    id: text<Id<"organization">>(),
    name: text(),
    /** The name that payers see. */
    displayName: text(),
    /** The requested new name, which awaits the platform's review; null: none. */
    pendingDisplayName: text().nullable(),
    /** The color of buttons and links on the pages of payers, such as `#0b5f4e`; null: the usual one. */
    accentColor: text().nullable(),
    /** The name of the logo's file that payers see. */
    logo: text().nullable(),
    /** The requested new logo, which awaits the platform's review; null: none. */
    pendingLogo: text().nullable(),
    /** True for the one organization that bills the others and whose admins review them. */
    isPlatform: flag(),
    status: text<"active" | "suspended">(),
    verificationStatus: text<VerificationStatus>(),
    legalName: text().nullable(),
    registrationNumber: text().nullable(),
    country: text().nullable(),
    address: text().nullable(),
    website: text().nullable(),
    contactEmail: text().nullable(),
    businessDescription: text().nullable(),
    reviewNote: text().nullable(),
    kybSubmittedAt: time().nullable(),
    reviewedAt: time().nullable(),
    /** Handling of payments after an invoice's deadline. */
    latePayments: text<LatePayments>(),
    /** The origins of the merchant's own pages, such as `https://shop.example`. */
    allowedOrigins: json<readonly string[]>(),
    /** Days after its deadline or cancellation for which an invoice's amount stays reserved for late payments. */
    lateWindowDays: integer(),
    /** The options of invoices whose request names none; null: a request must name them. */
    paymentOptions: json<readonly PaymentOption[]>().nullable(),
    /** The user who created it; null if the operator did, and for organizations of earlier versions. */
    createdBy: text<Id<"user">>().nullable(),
    version: integer(),
    createdAt: time(),
    updatedAt: time(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      {
        name: "organizations_creator",
        columns: ["createdBy", "verificationStatus"],
        where: "created_by IS NOT NULL",
      },
      {
        name: "organizations_platform",
        columns: ["isPlatform"],
        unique: true,
        where: "is_platform = 1",
      },
      { name: "organizations_verification", columns: ["verificationStatus", "id"] },
      {
        name: "organizations_late_review",
        columns: ["id"],
        where: "late_payments = 'review'",
      },
    ],
  },
);

export const organizationReviews = table(
  "organization_reviews",
  {
    id: text<Id<"review">>(),
    organizationId: text<Id<"organization">>(),
    decision: text<Decision | "submitted">(),
    fromStatus: text<VerificationStatus>(),
    toStatus: text<VerificationStatus>(),
    note: text().nullable(),
    reviewerId: text().nullable(),
    reviewerEmail: text().nullable(),
    createdAt: time(),
  },
  {
    primaryKey: ["id"],
    indexes: [{ name: "organization_reviews_organization", columns: ["organizationId", "id"] }],
  },
);

/** The files of the logos that are shown or requested. */
export const organizationLogos = table(
  "organization_logos",
  {
    /** With a digest of the content: `logo.0123456789abcdef0123456789abcdef.png`. */
    name: text(),
    organizationId: text<Id<"organization">>(),
    /** In Base64. */
    image: text(),
  },
  {
    primaryKey: ["name", "organizationId"],
    indexes: [{ name: "organization_logos_organization", columns: ["organizationId"] }],
  },
);

/** The storage that organizations have used before their approval. */
export const organizationAllowances = table(
  "organization_allowances",
  {
    organizationId: text<Id<"organization">>(),
    /** The texts of rows, events, audit entries and kept answers. */
    bytes: integer(),
    /** The number of drafts that were created. */
    drafts: integer(),
  },
  { primaryKey: ["organizationId"] },
);

export type LogoRow = RowOf<typeof organizationLogos>;
export type OrganizationRow = RowOf<typeof organizations>;
export type ReviewRow = RowOf<typeof organizationReviews>;

export interface OrganizationFilters {
  readonly verificationStatus?: VerificationStatus | undefined;
  /** Part of a name or of the contact's e-mail address, ignoring case, or a complete id. */
  readonly search?: string | undefined;
}

/** Returns a page of all organizations, newest first. */
export function searchOrganizations(
  reader: Reader,
  filters: OrganizationFilters,
  page: Pick<PageRequest, "after" | "fetch">,
): Promise<OrganizationRow[]> {
  const values: SqlValue[] = [];
  const bound = (value: SqlValue) => `$${String(values.push(value))}`;
  const conditions = ["1 = 1"];
  const { verificationStatus, search } = filters;
  if (verificationStatus !== undefined) {
    conditions.push(`verification_status = ${bound(verificationStatus)}`);
  }
  if (search !== undefined) {
    const part = bound(`%${folded(search).replace(/[\\%_]/g, "\\$&")}%`);
    const likes = ["name", "display_name", "pending_display_name", "contact_email"].map(
      (column) => `LOWER(${column}) LIKE ${part} ESCAPE '\\'`,
    );
    conditions.push(`(${likes.join(" OR ")} OR id = ${bound(search)})`);
  }
  if (page.after !== null) conditions.push(`id < ${bound(page.after)}`);
  return reader.find(
    organizations,
    `WHERE ${conditions.join(" AND ")} ORDER BY id DESC LIMIT ${bound(page.fetch)}`,
    values,
  );
}

/** Returns up to `limit` organizations with a name, which may be that for payers or the legal one, ignoring case. */
export function organizationsNamed(
  reader: Reader,
  name: string,
  limit: number,
): Promise<OrganizationRow[]> {
  const named = ["name", "display_name", "legal_name"].map((column) => `LOWER(${column}) = $1`);
  return reader.find(organizations, `WHERE ${named.join(" OR ")} ORDER BY id DESC LIMIT $2`, [
    folded(name),
    limit,
  ]);
}

/** Folds a text for comparison with LOWER, which handles only ASCII in both databases. */
function folded(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Returns the names of several organizations in one statement. */
export async function namesOf(
  reader: Reader,
  organizationIds: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(organizationIds)];
  if (ids.length === 0) return new Map();
  const parameters = ids.map((_id, index) => `$${String(index + 1)}`).join(", ");
  const rows = await reader.all<{ id: string; name: string }>(
    `SELECT id AS "id", name AS "name" FROM organizations WHERE id IN (${parameters})`,
    ids,
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Returns several organizations in one statement, in no particular order. */
export function organizationsById(
  reader: Reader,
  organizationIds: readonly Id<"organization">[],
): Promise<OrganizationRow[]> {
  return reader.find(organizations, `WHERE id IN ${listed(reader.dialect, 1)}`, [
    JSON.stringify(organizationIds),
  ]);
}

/** Returns a page of a user's organizations, newest first. */
export async function organizationsOfUser(
  reader: Reader,
  userId: Id<"user">,
  page: PageRequest,
): Promise<OrganizationRow[]> {
  const { rest, values } = pageQuery(page, [["m.user_id =", userId]], "m.organization_id");
  const stored = await reader.all(
    `SELECT ${columns(organizations, "o")} FROM memberships m
     JOIN organizations o ON o.id = m.organization_id ${rest}`,
    values,
  );
  return decodeRows(organizations, stored);
}

/** Returns a page of a list with at most one organization. */
export function onlyOrganization(
  reader: Reader,
  organizationId: Id<"organization">,
  page: PageRequest,
): Promise<OrganizationRow[]> {
  const { rest, values } = pageQuery(page, [["id =", organizationId]]);
  return reader.find(organizations, rest, values);
}

export async function findOrganization(
  reader: Reader,
  organizationId: Id<"organization">,
): Promise<OrganizationRow | null> {
  return reader.findOne(organizations, "WHERE id = $1", [organizationId]);
}

/** Returns the organization that bills the others; null before `till init`. */
export async function platformOrganization(reader: Reader): Promise<OrganizationRow | null> {
  return reader.findOne(organizations, "WHERE is_platform = 1");
}

/**
 * Whether the platform organization exists, in a store of any schema version; an incomplete store may have no
 * organizations table.
 */
export async function hasPlatformOrganization(reader: Reader): Promise<boolean> {
  return (await platformOrganizationId(reader)) !== null;
}

/** Returns the id of the platform organization, in a store of any schema version; null if the store is not initialized. */
export async function platformOrganizationId(reader: Reader): Promise<string | null> {
  if (!(await hasTable(reader, organizations))) return null;
  const [found] = await reader.all<{ id: string }>(
    'SELECT id AS "id" FROM organizations WHERE is_platform = 1',
  );
  return found?.id ?? null;
}

/** Maximum number of review entries shown to the platform. */
const reviewHistoryMax = 100;

/** Returns an organization's submissions and decisions, newest first. */
export async function reviewHistory(
  reader: Reader,
  organizationId: Id<"organization">,
): Promise<ReviewRow[]> {
  return reader.find(
    organizationReviews,
    `WHERE organization_id = $1 ORDER BY id DESC LIMIT ${String(reviewHistoryMax)}`,
    [organizationId],
  );
}

/** Returns those of the given organizations that review late payments themselves. */
export async function lateReviewers(
  reader: Reader,
  organizationIds: Iterable<Id<"organization">>,
): Promise<ReadonlySet<Id<"organization">>> {
  const ids = [...new Set(organizationIds)];
  if (ids.length === 0) return new Set();
  const rows = await reader.all<{ id: Id<"organization"> }>(
    `SELECT id FROM organizations WHERE late_payments = 'review' AND id IN ${listed(reader.dialect, 1)}`,
    [JSON.stringify(ids)],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Returns how long late payments are matched to the organization's invoices, in milliseconds. */
export async function lateWindowOf(
  reader: Reader,
  organizationId: Id<"organization">,
): Promise<number> {
  return (await issuingSettingsOf(reader, organizationId)).lateWindowMs;
}

/** The settings of an organization that the issuing of its invoices depends on. */
interface IssuingSettings {
  /** Time after its deadline for which an invoice's amount stays reserved, in milliseconds. */
  readonly lateWindowMs: number;
  readonly allowedOrigins: readonly string[];
}

export async function issuingSettingsOf(
  reader: Reader,
  organizationId: Id<"organization">,
): Promise<IssuingSettings> {
  const [row] = await reader.all<{ days: number; origins: string }>(
    `SELECT late_window_days AS days, allowed_origins AS origins FROM organizations WHERE id = $1`,
    [organizationId],
  );
  return {
    lateWindowMs: (row?.days ?? lateWindowDays.usual) * day,
    allowedOrigins: JSON.parse(row?.origins ?? "[]") as string[],
  };
}

/** Returns the options of invoices whose request names none; null if the organization has set none. */
export async function usualOptions(
  reader: Reader,
  organizationId: Id<"organization">,
): Promise<readonly PaymentOption[] | null> {
  return (await findOrganization(reader, organizationId))?.paymentOptions ?? null;
}

/** Locks an organization until the transaction ends; serializes counts and decisions about it. */
export async function lockOrganization(
  tx: Tx,
  organizationId: Id<"organization">,
): Promise<OrganizationRow> {
  const row = await tx.lockOne(organizations, "WHERE id = $1", [organizationId]);
  if (row === null) throw notFound();
  return row;
}

/** Counts the organizations without approval that a user has created. */
export async function countUnapproved(reader: Reader, userId: Id<"user">): Promise<number> {
  const [counted] = await reader.all<{ readonly unapproved: number }>(
    `SELECT COUNT(*) AS "unapproved" FROM organizations
     WHERE created_by = $1 AND verification_status <> 'approved'`,
    [userId],
  );
  return counted?.unapproved ?? 0;
}
