import type { App, InTx } from "../../app.ts";
import { notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { parsePage, toPage, type Page, type PageQuery } from "../../kernel/page.ts";
import type { Reader, WriteContext } from "../../platform/database/database.ts";
import type { SubscriptionView } from "../billing/records.ts";
import { subscriptionsOf } from "../billing/subscriptions/views.ts";
import { membershipsOfOrganization, type MembershipView } from "../members/store.ts";
import { setOrganizationStatus } from "../organizations/organizations.ts";
import {
  findOrganization,
  reviewHistory,
  searchOrganizations,
  type OrganizationFilters,
  type OrganizationRow,
  type ReviewRow,
} from "../organizations/store.ts";
import { decideVerification, type DecisionInput } from "../organizations/verification.ts";
import { walletsOf, type WalletView } from "../wallets/store.ts";

/** An organization in the platform's list. */
export interface OrganizationEntry {
  readonly organization: OrganizationRow;
  readonly members: MembershipCounts;
  /** Null if it never had a subscription. */
  readonly subscription: SubscriptionView | null;
}

/** Owner and size of an organization's team. */
interface MembershipCounts {
  /** Email of the longest-standing owner; empty without an owner. */
  readonly ownerEmail: string;
  readonly memberCount: number;
}

/** An organization with everything that platform admins need for a decision. */
export interface OrganizationDetail {
  readonly organization: OrganizationRow;
  readonly members: readonly MembershipView[];
  readonly wallets: readonly WalletView[];
  readonly reviews: readonly ReviewRow[];
  readonly subscription: SubscriptionView | null;
  /** Of the organization. */
  readonly version: number;
}

/** Returns a page of all organizations, newest first. */
export async function listAllOrganizations(
  app: App,
  { limit, cursor, ...filters }: OrganizationFilters & PageQuery,
): Promise<Page<OrganizationEntry>> {
  const { db } = app;
  const page = parsePage({ limit, cursor }, "admin_organizations", { ...filters });
  const { data, nextCursor } = toPage(await searchOrganizations(db, filters, page), page);
  const ids = data.map(({ id }) => id);
  const [counts, subscriptions] = await Promise.all([
    membershipCounts(db, ids),
    subscriptionsOf(db, app, ids),
  ]);
  const nobody: MembershipCounts = { ownerEmail: "", memberCount: 0 };
  return {
    data: data.map((organization) => ({
      organization,
      members: counts.get(organization.id) ?? nobody,
      subscription: subscriptions.get(organization.id) ?? null,
    })),
    nextCursor,
  };
}

/** Returns an organization with its members, wallets, reviews and subscription. */
export async function getOrganizationDetail(
  app: App,
  organizationId: Id<"organization">,
): Promise<OrganizationDetail> {
  const organization = await findOrganization(app.db, organizationId);
  if (organization === null) throw notFound();
  return detailOf(app.db, app, organization);
}

/**
 * Approves, rejects or returns an organization's submission. `expect` receives the current state and throws if the
 * decision was made on another version.
 */
export function reviewOrganization(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  input: DecisionInput,
  expect?: (current: OrganizationDetail) => void,
): Promise<OrganizationDetail> {
  return app.db.write(context, async (tx) => {
    const asRead = async (current: OrganizationRow) => expect?.(await detailOf(tx, app, current));
    const decided = decideVerification(tx, app, app.clock.now(), organizationId, input, asRead);
    return detailOf(tx, app, await decided);
  });
}

/**
 * Suspends or resumes an organization. While suspended, all its writes are refused. Available only on the command
 * line.
 */
export function changeOrganizationStatus(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  status: OrganizationRow["status"],
): Promise<OrganizationDetail> {
  return app.db.write(context, async (tx) => {
    const at = app.clock.now();
    return detailOf(tx, app, await setOrganizationStatus(tx, app, at, organizationId, status));
  });
}

async function detailOf(
  reader: Reader,
  app: InTx,
  organization: OrganizationRow,
): Promise<OrganizationDetail> {
  const { id, version } = organization;
  return {
    organization,
    version,
    subscription: (await subscriptionsOf(reader, app, [id])).get(id) ?? null,
    members: await membershipsOfOrganization(reader, id),
    wallets: await walletsOf(reader, id),
    reviews: await reviewHistory(reader, id),
  };
}

/** Returns the owners and member counts of several organizations in one statement. */
async function membershipCounts(
  reader: Reader,
  organizationIds: readonly Id<"organization">[],
): Promise<Map<Id<"organization">, MembershipCounts>> {
  if (organizationIds.length === 0) return new Map();
  const parameters = organizationIds.map((_id, index) => `$${String(index + 1)}`).join(", ");
  const rows = await reader.all<MembershipCounts & { id: Id<"organization"> }>(
    `SELECT m.organization_id AS "id", CAST(COUNT(*) AS INTEGER) AS "memberCount", (
       SELECT u.email FROM memberships om JOIN users u ON u.id = om.user_id
       WHERE om.organization_id = m.organization_id AND om.role = 'owner' ORDER BY om.id LIMIT 1
     ) AS "ownerEmail"
     FROM memberships m WHERE m.organization_id IN (${parameters}) GROUP BY m.organization_id`,
    organizationIds,
  );
  return new Map(rows.map(({ id, ownerEmail, memberCount }) => [id, { ownerEmail, memberCount }]));
}
