import type { Clock } from "../../kernel/clock.ts";
import { Problem } from "../../kernel/errors.ts";
import type { Id, IdSource } from "../../kernel/id.ts";
import type { Network } from "../../platform/chain/networks.ts";
import type { Plan, PlanCatalog } from "../../platform/config/index.ts";
import {
  UniqueViolation,
  type Database,
  type Reader,
  type WriteContext,
} from "../../platform/database/index.ts";
import { listed } from "../../platform/database/json-rows.ts";
import type { ManagedInvoices } from "../invoices/index.ts";
import { makePlanChanges } from "./change.ts";
import { NoReceiveWallet, NoSubscription, UnknownPlan } from "./errors.ts";
import type { Issuer } from "./issue.ts";
import type { FirstInvoices } from "./first-invoice.ts";
import { findPlan, termsOf, type Terms } from "./plans.ts";
import type { SubscriptionView } from "./present.ts";
import { makeSelection } from "./select.ts";
import { latestSubscription, unpaidOf, withScene } from "./subscription-store.ts";
import { subscriptions, type SubscriptionRow } from "./table.ts";
import type { Teller } from "./tell.ts";

/** What organizations do with their subscription. */
export interface SubscriptionService {
  /** The subscription that an organization has, or the last that it had; 404 `no_subscription` without any. */
  get(organizationId: Id<"organization">): Promise<SubscriptionView>;
  /**
   * Begins a subscription: with a trial where the plan has one and the organization never had any. A plan that costs
   * something is invoiced at once. The plan that is on trial already gives the same answer again.
   */
  select(
    context: WriteContext,
    organizationId: Id<"organization">,
    planId: string,
  ): Promise<SubscriptionView>;
  /**
   * Schedules another plan for the end of the current period, a trial included; neither the plan nor the status changes
   * by the request. The current plan drops a scheduled change; the pending one changes nothing. During a trial the
   * unpaid first invoice is replaced by one for the plan that the period it bills will have. `expect` may refuse the
   * subscription as it is by then. Errors: `no_subscription`, `unknown_plan`, `plan_currency_differs`,
   * `subscription_not_changeable` where it is canceled or about to end, `no_receive_wallet`, `network_not_ready`,
   * `rate_unavailable`.
   */
  change(
    context: WriteContext,
    organizationId: Id<"organization">,
    planId: string,
    expect?: (current: SubscriptionView) => void,
  ): Promise<SubscriptionView>;
  /** The subscriptions of several organizations, those that are canceled too. */
  readonly viewsOf: (
    reader: Reader,
    organizationIds: readonly Id<"organization">[],
  ) => Promise<ReadonlyMap<Id<"organization">, SubscriptionView>>;
}

/** Why a twin could not be issued, where the platform has to do something about it. */
const collectionFaults = new Set([
  "no_wallet",
  "wallet_capacity_exhausted",
  "amount_too_small",
  "unsupported_currency",
]);

export function makeSubscriptionService(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly catalog: PlanCatalog;
  readonly networks: ReadonlyMap<string, Network>;
  readonly managed: ManagedInvoices;
  readonly issuer: Issuer;
  readonly firstInvoices: FirstInvoices;
  readonly teller: Teller;
  readonly checkoutUrl: (checkoutId: string) => string;
  /** Wakes the run. */
  readonly nudge: () => void;
}): SubscriptionService {
  const { db, clock, catalog, managed, checkoutUrl, nudge } = deps;
  const begin = makeSelection(deps);
  const changePlan = makePlanChanges(deps);

  async function viewOf(reader: Reader, subscription: SubscriptionRow): Promise<SubscriptionView> {
    const [openInvoice = null] = await unpaidOf(reader, [subscription.id]);
    return { subscription, openInvoice, checkoutUrl };
  }

  function planOf(planId: string): Plan {
    const plan = findPlan(catalog, planId);
    if (plan !== null) return plan;
    const known = catalog.plans.map(({ id }) => id).join(", ");
    throw new UnknownPlan(`Choose one of the plans of GET /billing/plans: ${known}.`);
  }

  return {
    async get(organizationId) {
      const row = await latestSubscription(db, organizationId);
      if (row === null) throw noSubscription();
      return viewOf(db, row);
    },

    async select(context, organizationId, planId) {
      const plan = planOf(planId);
      const attempt = () =>
        db.write(context, async (tx) =>
          viewOf(tx, await begin(tx, clock.now(), organizationId, plan)),
        );
      try {
        return await attempt();
      } catch (error) {
        // Somebody else selected at the same moment: what they made is there now.
        if (isLiveTaken(error)) return attempt();
        throw collectionProblem(error);
      }
    },

    async change(context, organizationId, planId, expect) {
      try {
        return await withScene(db, managed, context, organizationId, async (tx, scene) => {
          const kept = scene === null ? null : keptTerms(scene.subscription, planId);
          const terms = kept ?? termsOf(planOf(planId));
          if (scene === null) throw noSubscription();
          expect?.(await viewOf(tx, scene.subscription));
          const view = await viewOf(tx, await changePlan(tx, clock.now(), scene, terms));
          tx.afterCommit(nudge);
          return view;
        });
      } catch (error) {
        throw collectionProblem(error);
      }
    },

    async viewsOf(reader, organizationIds) {
      if (organizationIds.length === 0) return new Map();
      const rows = await reader.find(
        subscriptions,
        `WHERE organization_id IN ${listed(reader.dialect, 1)} ORDER BY id`,
        [JSON.stringify(organizationIds)],
      );
      const latest = new Map(rows.map((row) => [row.organizationId, row]));
      const shown = [...latest.values()];
      const owed = await unpaidOf(
        reader,
        shown.map(({ id }) => id),
      );
      return new Map(
        shown.map((subscription) => {
          const openInvoice = owed.find((one) => one.subscriptionId === subscription.id) ?? null;
          return [subscription.organizationId, { subscription, openInvoice, checkoutUrl }];
        }),
      );
    },
  };
}

/** The terms of the current or the pending plan, which hold even where the catalog has the plan no more. */
function keptTerms({ terms, pendingTerms }: SubscriptionRow, planId: string): Terms | null {
  if (terms.id === planId) return terms;
  return pendingTerms?.id === planId ? pendingTerms : null;
}

function noSubscription(): Problem {
  return new NoSubscription(
    "Select a plan with POST …/billing/subscription/select; GET /billing/plans lists them.",
  );
}

function isLiveTaken(error: unknown): boolean {
  return error instanceof UniqueViolation && error.index === "subscriptions_live";
}

/** What an organization can do nothing about is not told as if it could. */
function collectionProblem(error: unknown): unknown {
  if (!(error instanceof Problem) || !collectionFaults.has(error.code)) return error;
  return new NoReceiveWallet(
    `The platform cannot be paid at its receive wallet now: ${error.message} A platform admin does that; then try again.`,
    { cause: error },
  );
}
