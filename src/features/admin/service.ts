import type { Clock } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import type { Database, Reader, WriteContext } from "../../platform/database/index.ts";
import { membershipsOfOrganization, type MembershipView } from "../members/index.ts";
import {
  reviewHistory,
  type DecisionInput,
  type OrganizationRow,
  type Organizations,
  type ReviewRow,
} from "../organizations/index.ts";
import type { WalletView } from "../wallets/index.ts";

/** Everything that the platform's admins decide by. */
export interface OrganizationDetail {
  readonly organization: OrganizationRow;
  readonly members: readonly MembershipView[];
  readonly wallets: readonly WalletView[];
  readonly reviews: readonly ReviewRow[];
}

export interface AdminService {
  /** Approves, rejects or sends back an organization's submission. */
  decide(
    context: WriteContext,
    organizationId: Id<"organization">,
    input: DecisionInput,
  ): Promise<OrganizationDetail>;
}

export function makeAdminService(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly organizations: Organizations;
  readonly walletsOf: (
    reader: Reader,
    organizationId: Id<"organization">,
  ) => Promise<readonly WalletView[]>;
}): AdminService {
  const { db, clock, organizations, walletsOf } = deps;
  return {
    decide(context, organizationId, input) {
      return db.write(context, async (tx) => {
        const organization = await organizations.decide(tx, clock.now(), organizationId, input);
        return {
          organization,
          members: await membershipsOfOrganization(tx, organizationId),
          wallets: await walletsOf(tx, organizationId),
          reviews: await reviewHistory(tx, organizationId),
        };
      });
    },
  };
}
