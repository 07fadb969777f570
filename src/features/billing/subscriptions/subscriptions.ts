import { checkoutUrl, type App, type InTx } from "../../../app.ts";
import { day, toIso, type Instant } from "../../../kernel/clock.ts";
import { Problem } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Plan } from "../../../platform/config/plans.ts";
import { UniqueViolation } from "../../../platform/database/errors.ts";
import type { Reader, Tx, WriteContext } from "../../../platform/database/database.ts";
import { announceSubscription } from "../announce.ts";
import {
  NoReceiveWallet,
  NoSubscription,
  PlanCurrencyDiffers,
  PlatformInvoiceUnpaid,
  SubscriptionExists,
  SubscriptionNotChangeable,
  UnknownPlan,
} from "../errors.ts";
import { alignFirstInvoice, issuePlatformInvoice } from "../invoices/issue.ts";
import { requireReceiveWallet } from "../invoices/receive-wallet.ts";
import { decidePlanChange } from "../lifecycle/rules.ts";
import { boundary, periodAt } from "../periods.ts";
import { findPlan, termsOf, type Terms } from "../plans.ts";
import type { SubscriptionView } from "../records.ts";
import { billingWorkerName } from "../status.ts";
import {
  debtsOf,
  latestSubscription,
  liveSubscription,
  noPlanChange,
  saveSubscription,
  withLockedSubscription,
  type LockedSubscription,
} from "../store.ts";
import { subscriptions, type SubscriptionRow } from "../table.ts";
import { viewSubscription } from "./views.ts";

/** Errors of issuing a collection invoice that only the platform can resolve. */
const collectionFaults = new Set([
  "no_wallet",
  "wallet_capacity_exhausted",
  "amount_too_small",
  "unsupported_currency",
]);

/**
 * Returns the organization's subscription, or its last one if that is canceled; 404 `no_subscription` if it never had
 * any.
 */
export async function getSubscription(
  app: App,
  organizationId: Id<"organization">,
): Promise<SubscriptionView> {
  const { db } = app;
  const row = await latestSubscription(db, organizationId);
  if (row === null) throw noSubscription();
  return viewSubscription(db, app, row);
}

/**
 * Starts a subscription, with a trial if the plan has one and the organization never had a trial. A plan with a price
 * is invoiced immediately. Selecting the plan of the current trial again returns the same subscription.
 */
export async function selectPlan(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  planId: string,
): Promise<SubscriptionView> {
  const plan = planOf(app, planId);
  const attempt = () =>
    app.db.write(context, async (tx) => {
      const started = await startSubscription(tx, app, app.clock.now(), organizationId, plan);
      return viewSubscription(tx, app, started);
    });
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
export async function changePlan(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  planId: string,
  expect?: (current: SubscriptionView) => void,
): Promise<SubscriptionView> {
  try {
    return await withLockedSubscription(app, context, organizationId, async (tx, locked) => {
      const known = locked === null ? null : ownTerms(locked.subscription, planId);
      const terms = known ?? termsOf(planOf(app, planId));
      if (locked === null) throw noSubscription();
      expect?.(await viewSubscription(tx, app, locked.subscription));
      const changed = await schedulePlan(tx, app, app.clock.now(), locked, terms);
      const view = await viewSubscription(tx, app, changed);
      tx.afterCommit(() => app.running?.wake(billingWorkerName));
      return view;
    });
  } catch (error) {
    throw collectionProblem(error);
  }
}

/**
 * Starts a subscription in the caller's transaction and returns it; if a trial of the plan is already running, returns
 * that subscription. Throws `subscription_exists`, `platform_invoice_unpaid`, `no_receive_wallet`, and the errors of
 * issuing a collection invoice.
 */
async function startSubscription(
  tx: Tx,
  app: InTx,
  at: Instant,
  organizationId: Id<"organization">,
  plan: Plan,
): Promise<SubscriptionRow> {
  const live = await liveSubscription(tx, organizationId);
  if (live !== null) {
    if (live.status === "trialing" && live.terms.id === plan.id) return live;
    throw new SubscriptionExists(
      `The organization is on the plan ${live.terms.id} (${live.status}). Change the plan with PATCH …/billing/subscription instead.`,
    );
  }
  await requireNoDebt(tx, app, organizationId);
  await requireReceiveWallet(tx, app, plan);
  const former = await tx.findOne(
    subscriptions,
    "WHERE organization_id = $1 AND had_trial = 1 LIMIT 1",
    [organizationId],
  );
  const trialEndsAt = plan.trialDays > 0 && former === null ? at + plan.trialDays * day : null;
  const row = newSubscription(
    app.ids.next("subscription", at),
    organizationId,
    plan,
    at,
    trialEndsAt,
  );
  await tx.insert(subscriptions, row);
  await issuePlatformInvoice(tx, app, at, {
    subscription: row,
    period: periodAt(row.anchorAt, plan.interval, 0),
    terms: row.terms,
    elapsed: null,
    dueAt: trialEndsAt,
  });
  await announceSubscription(tx, app, at, "subscription.created", row);
  tx.afterCommit(() => app.running?.wake(billingWorkerName));
  return row;
}

async function requireNoDebt(
  reader: Reader,
  app: InTx,
  organizationId: Id<"organization">,
): Promise<void> {
  const [debt] = await debtsOf(reader, organizationId);
  if (debt === undefined) return;
  const where = debt.twinCheckoutId === null ? "" : ` at ${checkoutUrl(app, debt.twinCheckoutId)}`;
  throw new PlatformInvoiceUnpaid(`Pay ${debt.number}${where} first, then select a plan again.`);
}

function newSubscription(
  id: Id<"subscription">,
  organizationId: Id<"organization">,
  plan: Plan,
  at: Instant,
  trialEndsAt: Instant | null,
): SubscriptionRow {
  const isTrial = trialEndsAt !== null;
  const anchorAt = trialEndsAt ?? at;
  return {
    id,
    organizationId,
    anchorAt,
    trialEndsAt,
    status: isTrial ? "trialing" : "active",
    statusReason: null,
    terms: termsOf(plan),
    ...noPlanChange,
    periodIndex: isTrial ? -1 : 0,
    currentPeriodStart: at,
    currentPeriodEnd: trialEndsAt ?? boundary(anchorAt, plan.interval, 1),
    trialNoticeAt: null,
    hadTrial: isTrial,
    usageNotice: 0,
    issuedFrom: null,
    issuedCount: 0,
    suspendedAt: null,
    canceledAt: null,
    cancelAt: null,
    nextActionAt: at,
    parkedAt: null,
    parkReason: null,
    parkedUntil: null,
    parkCount: 0,
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
}

/**
 * Schedules a plan for the end of the current period of a locked subscription, or drops the scheduled change if the
 * plan is the current one. During a trial, also replaces the unpaid first invoice if needed. Returns the updated
 * subscription. Throws `subscription_not_changeable`, `plan_currency_differs`, `no_receive_wallet`, and the errors of
 * issuing an invoice.
 */
async function schedulePlan(
  tx: Tx,
  app: InTx,
  at: Instant,
  locked: LockedSubscription,
  plan: Terms,
): Promise<SubscriptionRow> {
  const { subscription } = locked;
  const { cancelAt, pendingPlan, currentPeriodEnd } = subscription;
  const decided = decidePlanChange(subscription, plan.id);
  if (decided === "refused") {
    throw new SubscriptionNotChangeable(
      "The subscription is canceled. Select a plan with POST …/billing/subscription/select instead.",
    );
  }
  if (decided === "ending") {
    throw new SubscriptionNotChangeable(
      `The platform has scheduled its cancellation for ${toIso(cancelAt ?? at)}. Ask the platform to withdraw that first.`,
    );
  }
  if (decided === "unchanged") return subscription;
  const isScheduled = decided === "scheduled";
  if (isScheduled) await requireBillable(tx, app, subscription, plan);
  const pending = isScheduled
    ? { pendingPlan: plan.id, pendingTerms: plan, planChangeEffectiveAt: currentPeriodEnd }
    : noPlanChange;
  const saved = await saveSubscription(tx, at, subscription, { ...pending, nextActionAt: at });
  await alignFirstInvoice(tx, app, at, { ...locked, subscription: saved }, plan);
  const type = isScheduled
    ? "subscription.plan_change_scheduled"
    : "subscription.plan_change_dropped";
  const changes = { pendingPlan: { from: pendingPlan, to: saved.pendingPlan } };
  await announceSubscription(tx, app, at, type, saved, changes);
  return saved;
}

async function requireBillable(
  reader: Reader,
  app: InTx,
  { terms }: SubscriptionRow,
  plan: Terms,
): Promise<void> {
  if (plan.currency !== terms.currency) {
    throw new PlanCurrencyDiffers(
      `The subscription is billed in ${terms.currency}. Choose a plan in that currency.`,
    );
  }
  await requireReceiveWallet(reader, app, plan);
}

function planOf({ config }: App, planId: string): Plan {
  const { plans: catalog } = config;
  const plan = findPlan(catalog, planId);
  if (plan !== null) return plan;
  const known = catalog.plans.map(({ id }) => id).join(", ");
  throw new UnknownPlan(`Choose one of the plans of GET /billing/plans: ${known}.`);
}

/**
 * Returns the terms of the current or the pending plan, which stay valid even if the catalog no longer has the plan.
 */
function ownTerms({ terms, pendingTerms }: SubscriptionRow, planId: string): Terms | null {
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
