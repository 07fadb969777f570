import { bind, type Bound } from "../../../kernel/bind.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { Problem } from "../../../kernel/errors.ts";
import type { Id, IdSource } from "../../../kernel/id.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import type { Plan, PlanCatalog } from "../../../platform/config/plans.ts";
import { UniqueViolation } from "../../../platform/database/errors.ts";
import type { Database, WriteContext } from "../../../platform/database/database.ts";
import type { ManagedInvoices } from "../invoices/collection-invoice.ts";
import { makePlanChanges } from "./change-plan.ts";
import { NoReceiveWallet, NoSubscription, UnknownPlan } from "../errors.ts";
import type { Issuer } from "../invoices/issuer.ts";
import type { FirstInvoices } from "../invoices/first-invoice.ts";
import { findPlan, termsOf, type Terms } from "../plans.ts";
import type { SubscriptionView } from "../present.ts";
import { makeSelection } from "./select-plan.ts";
import { latestSubscription, withLockedSubscription } from "../store.ts";
import type { SubscriptionRow } from "../table.ts";
import type { BillingAnnouncer } from "../announce.ts";
import { viewOf } from "./views.ts";

/** Reads, selects and changes the subscriptions of organizations. */
export type SubscriptionService = Bound<typeof methods>;

/** Errors of issuing a collection invoice that only the platform can resolve. */
const collectionFaults = new Set([
  "no_wallet",
  "wallet_capacity_exhausted",
  "amount_too_small",
  "unsupported_currency",
]);

interface Deps {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly catalog: PlanCatalog;
  readonly networks: ReadonlyMap<string, Network>;
  readonly managed: ManagedInvoices;
  readonly issuer: Issuer;
  readonly firstInvoices: FirstInvoices;
  readonly announcer: BillingAnnouncer;
  readonly checkoutUrl: (checkoutId: string) => string;
  /** Wakes the billing worker. */
  readonly wake: () => void;
}

type Parts = Deps & {
  readonly begin: ReturnType<typeof makeSelection>;
  readonly changePlan: ReturnType<typeof makePlanChanges>;
};

const methods = { get, select, change };

export function makeSubscriptionService(deps: Deps): SubscriptionService {
  const steps = { begin: makeSelection(deps), changePlan: makePlanChanges(deps) };
  return bind({ ...deps, ...steps }, methods);
}

/**
 * Returns the organization's subscription, or its last one if that is canceled; 404 `no_subscription` if it never had
 * any.
 */
async function get(deps: Parts, organizationId: Id<"organization">): Promise<SubscriptionView> {
  const { db } = deps;
  const row = await latestSubscription(db, organizationId);
  if (row === null) throw noSubscription();
  return viewOf(deps, db, row);
}

/**
 * Starts a subscription, with a trial if the plan has one and the organization never had a trial. A plan with a price
 * is invoiced immediately. Selecting the plan of the current trial again returns the same subscription.
 */
async function select(
  deps: Parts,
  context: WriteContext,
  organizationId: Id<"organization">,
  planId: string,
): Promise<SubscriptionView> {
  const { db, clock, begin } = deps;
  const plan = planOf(deps, planId);
  const attempt = () =>
    db.write(context, async (tx) =>
      viewOf(deps, tx, await begin(tx, clock.now(), organizationId, plan)),
    );
  try {
    return await attempt();
  } catch (error) {
    // A concurrent request selected a plan: its subscription exists now.
    if (isLiveTaken(error)) return attempt();
    throw collectionProblem(error);
  }
}

/**
 * Schedules another plan for the end of the current period or trial; the request itself changes neither the plan nor
 * the status. A request for the current plan drops the scheduled change; one for the pending plan changes nothing.
 * During a trial, the unpaid first invoice is replaced by one for the plan that will apply to its period. `expect`
 * gets the locked subscription and may throw to refuse the change. Errors: `no_subscription`, `unknown_plan`,
 * `plan_currency_differs`, `subscription_not_changeable` if it is canceled or has a scheduled cancellation,
 * `no_receive_wallet`, `network_not_ready`, `rate_unavailable`.
 */
async function change(
  deps: Parts,
  context: WriteContext,
  organizationId: Id<"organization">,
  planId: string,
  expect?: (current: SubscriptionView) => void,
): Promise<SubscriptionView> {
  const { db, clock, managed, wake, changePlan } = deps;
  try {
    return await withLockedSubscription(
      db,
      managed,
      context,
      organizationId,
      async (tx, locked) => {
        const kept = locked === null ? null : keptTerms(locked.subscription, planId);
        const terms = kept ?? termsOf(planOf(deps, planId));
        if (locked === null) throw noSubscription();
        expect?.(await viewOf(deps, tx, locked.subscription));
        const view = await viewOf(deps, tx, await changePlan(tx, clock.now(), locked, terms));
        tx.afterCommit(wake);
        return view;
      },
    );
  } catch (error) {
    throw collectionProblem(error);
  }
}

function planOf({ catalog }: Parts, planId: string): Plan {
  const plan = findPlan(catalog, planId);
  if (plan !== null) return plan;
  const known = catalog.plans.map(({ id }) => id).join(", ");
  throw new UnknownPlan(`Choose one of the plans of GET /billing/plans: ${known}.`);
}

/**
 * Returns the terms of the current or the pending plan, which stay valid even if the catalog no longer has the plan.
 */
function keptTerms({ terms, pendingTerms }: SubscriptionRow, planId: string): Terms | null {
  if (terms.id === planId) return terms;
  return pendingTerms?.id === planId ? pendingTerms : null;
}

function noSubscription(): Problem {
  return new NoSubscription(
    "Select a plan with POST …/billing/subscription/select; GET /billing/plans lists the plans.",
  );
}

function isLiveTaken(error: unknown): boolean {
  return error instanceof UniqueViolation && error.index === "subscriptions_live";
}

/** Replaces an error that only the platform can resolve with `no_receive_wallet`. */
function collectionProblem(error: unknown): unknown {
  if (!(error instanceof Problem) || !collectionFaults.has(error.code)) return error;
  return new NoReceiveWallet(
    `The platform cannot be paid at its receive wallet now: ${error.message} A platform admin must resolve this; then try again.`,
    { cause: error },
  );
}
