import type { Clock } from "../../kernel/clock.ts";
import { notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { parsePage, toPage, type Page, type PageQuery } from "../../kernel/page.ts";
import type { Database, Reader, WriteContext } from "../../platform/database/database.ts";
import type { SubscriptionView } from "../billing/records.ts";
import { membershipsOfOrganization, type MembershipView } from "../members/store.ts";
import {
  findOrganization,
  reviewHistory,
  searchOrganizations,
  type OrganizationFilters,
} from "../organizations/store.ts";
import type { InTx } from "../../app.ts";
import { setOrganizationStatus } from "../organizations/organizations.ts";
import { decideVerification, type DecisionInput } from "../organizations/verification.ts";
import type { OrganizationRow, ReviewRow } from "../organizations/table.ts";
import type { WalletView } from "../wallets/store.ts";
import { membershipCounts, type MembershipCounts } from "./store.ts";

/** An organization in the platform's list. */
export interface OrganizationEntry {
  readonly organization: OrganizationRow;
  readonly members: MembershipCounts;
  /** Null if it never had a subscription. */
  readonly subscription: SubscriptionView | null;
}

/** An organization with everything that platform admins need for a decision. */
export interface OrganizationDetail {
  readonly organization: OrganizationRow;
  readonly members: readonly MembershipView[];
  readonly wallets: readonly WalletView[];
  readonly reviews: readonly ReviewRow[];
  readonly subscription: SubscriptionView | null;
}

export interface AdminService {
  listOrganizations(query: OrganizationFilters & PageQuery): Promise<Page<OrganizationEntry>>;
  getOrganization(organizationId: Id<"organization">): Promise<OrganizationDetail>;
  /**
   * Approves, rejects or returns an organization's submission. `expect` receives the current state and throws if the
   * decision was made on another version.
   */
  decide(
    context: WriteContext,
    organizationId: Id<"organization">,
    input: DecisionInput,
    expect?: (current: OrganizationDetail) => void,
  ): Promise<OrganizationDetail>;
  /**
   * Suspends or resumes an organization. While suspended, all its writes are refused. Available only on the command
   * line.
   */
  setStatus(
    context: WriteContext,
    organizationId: Id<"organization">,
    status: OrganizationRow["status"],
  ): Promise<OrganizationDetail>;
}

export function makeAdminService(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly app: InTx;
  readonly walletsOf: (
    reader: Reader,
    organizationId: Id<"organization">,
  ) => Promise<readonly WalletView[]>;
  readonly subscriptionsOf: (
    reader: Reader,
    organizationIds: readonly Id<"organization">[],
  ) => Promise<ReadonlyMap<Id<"organization">, SubscriptionView>>;
}): AdminService {
  const { db, clock, app, walletsOf, subscriptionsOf } = deps;

  async function detailOf(
    reader: Reader,
    organization: OrganizationRow,
  ): Promise<OrganizationDetail> {
    const { id } = organization;
    return {
      organization,
      subscription: (await subscriptionsOf(reader, [id])).get(id) ?? null,
      members: await membershipsOfOrganization(reader, organization.id),
      wallets: await walletsOf(reader, organization.id),
      reviews: await reviewHistory(reader, organization.id),
    };
  }

  return {
    async listOrganizations({ limit, cursor, ...filters }) {
      const page = parsePage({ limit, cursor }, "admin_organizations", { ...filters });
      const { data, nextCursor } = toPage(await searchOrganizations(db, filters, page), page);
      const ids = data.map(({ id }) => id);
      const [counts, subscriptions] = await Promise.all([
        membershipCounts(db, ids),
        subscriptionsOf(db, ids),
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
    },

    async getOrganization(organizationId) {
      const organization = await findOrganization(db, organizationId);
      if (organization === null) throw notFound();
      return detailOf(db, organization);
    },

    decide(context, organizationId, input, expect) {
      return db.write(context, async (tx) => {
        const asRead = async (current: OrganizationRow) => expect?.(await detailOf(tx, current));
        const decided = decideVerification(tx, app, clock.now(), organizationId, input, asRead);
        return detailOf(tx, await decided);
      });
    },

    setStatus(context, organizationId, status) {
      return db.write(context, async (tx) =>
        detailOf(tx, await setOrganizationStatus(tx, app, clock.now(), organizationId, status)),
      );
    },
  };
}
