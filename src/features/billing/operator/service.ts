import { bind, type Bound } from "../../../kernel/bind.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { notFound } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import { mapPage, parsePage, toPage, type Page, type PageQuery } from "../../../kernel/page.ts";
import type { PlanCatalog } from "../../../platform/config/plans.ts";
import type { Violation } from "../../../platform/database/schema/checks.ts";
import type { Database, Reader, Tx, WriteContext } from "../../../platform/database/database.ts";
import { pageQuery } from "../../../platform/database/query/page.ts";
import type { ManagedInvoices } from "../invoices/collection-invoice.ts";
import { namesOf } from "../../organizations/store.ts";
import type { Cancellation, Cancellations } from "../lifecycle/cancel.ts";
import { billingChecks } from "../checks.ts";
import { computeCharges, type ChargeInputs, type Charges } from "../charges.ts";
import { NoSubscription } from "../errors.ts";
import {
  findFirstInvoice,
  planDifferenceOf,
  type PlanDifference,
} from "../invoices/first-invoice.ts";
import type { InvoiceOrder, Issuer } from "../invoices/issuer.ts";
import { periodAt, type Period } from "../periods.ts";
import { pendingTermsOf } from "../plans.ts";
import type { BillingRun, RunResult } from "../lifecycle/worker.ts";
import type { SubscriptionStatus } from "../status.ts";
import { liveSubscription, unpaidOf, withLockedSubscription } from "../store.ts";
import { subscriptions, type SubscriptionRow } from "../table.ts";

export interface SubscriptionFilters extends PageQuery {
  readonly status?: SubscriptionStatus | undefined;
  readonly organizationId?: Id<"organization"> | undefined;
}

/** A subscription as operators see it. */
export interface OperatedSubscription {
  readonly subscription: SubscriptionRow;
  readonly organizationName: string;
  readonly owedInvoices: number;
}

/** A preview of a subscription's next invoice, as if its period ended now. `planId` is the plan that it bills. */
export interface Rehearsal {
  readonly subscription: SubscriptionRow;
  readonly organizationName: string;
  readonly period: Period;
  readonly planId: string;
  readonly currency: string;
  readonly decimals: number;
  readonly usageCount: number | null;
  readonly charges: Charges;
}

export interface CheckedBilling {
  readonly checks: readonly {
    readonly name: string;
    readonly describe: string;
    readonly violations: readonly Violation[];
  }[];
}

/** Billing operations for operators at the command line. */
export type BillingOperator = Bound<typeof methods>;

interface Deps {
  readonly db: Database;
  readonly clock: Clock;
  readonly catalog: PlanCatalog;
  readonly issuer: Issuer;
  readonly billingRun: BillingRun;
  readonly managed: Pick<ManagedInvoices, "lock">;
  readonly cancellations: Pick<Cancellations, "cancel">;
  /** Wakes the billing worker. */
  readonly wake: () => void;
}

const methods = { list, run, cancel, rehearse, verify };

export function makeBillingOperator(deps: Deps): BillingOperator {
  return bind(deps, methods);
}

async function list(deps: Deps, query: SubscriptionFilters): Promise<Page<OperatedSubscription>> {
  const { db } = deps;
  const found = await page(deps, query);
  const names = await namesOf(
    db,
    found.data.map(({ organizationId }) => organizationId),
  );
  const owed = await unpaidOf(
    db,
    found.data.map(({ id }) => id),
  );
  return mapPage(found, (subscription) => ({
    subscription,
    organizationName: names.get(subscription.organizationId) ?? "",
    owedInvoices: owed.filter((one) => one.subscriptionId === subscription.id).length,
  }));
}

/** Performs all steps that are due now. */
function run({ billingRun }: Deps): Promise<RunResult> {
  return billingRun.runAll();
}

/**
 * Cancels an organization's subscription, now or at the end of its period, or withdraws a scheduled cancellation.
 * Errors: `no_subscription`, `subscription_not_changeable`.
 */
function cancel(
  { db, clock, managed, cancellations, wake }: Deps,
  context: WriteContext,
  organizationId: Id<"organization">,
  cancellation: Cancellation,
): Promise<SubscriptionRow> {
  return withLockedSubscription(db, managed, context, organizationId, (tx, locked) => {
    if (locked === null) throw new NoSubscription("This organization never had a subscription.");
    tx.afterCommit(wake);
    return cancellations.cancel(tx, clock.now(), locked, cancellation);
  });
}

/** Computes next invoices with the function that issues them, and stores nothing. */
async function rehearse(
  deps: Deps,
  context: WriteContext,
  query: SubscriptionFilters,
): Promise<Page<Rehearsal>> {
  const { db } = deps;
  const { organizationId } = query;
  if (organizationId !== undefined && (await liveSubscription(db, organizationId)) === null) {
    throw notFound();
  }
  const found = await page(deps, query);
  const names = await namesOf(
    db,
    found.data.map((one) => one.organizationId),
  );
  const data: Rehearsal[] = [];
  for (const one of found.data) {
    if (one.status === "suspended" || one.status === "canceled") continue;
    // It ends with the current period, so no invoice follows.
    if (one.cancelAt !== null) continue;
    // A write transaction, because the draft locks rows; it changes nothing.
    const name = names.get(one.organizationId) ?? "";
    data.push(await db.write(context, (tx) => rehearseOne(deps, tx, one, name)));
  }
  return { data, nextCursor: found.nextCursor };
}

/** Runs all billing checks, which recompute every platform invoice and balance. */
async function verify({ db }: Deps): Promise<CheckedBilling> {
  const checks = [];
  for (const check of billingChecks) {
    const { name, describe } = check;
    checks.push({ name, describe, violations: await check.run(db) });
  }
  return { checks };
}

async function page({ db }: Deps, { limit, cursor, status, organizationId }: SubscriptionFilters) {
  const asked = parsePage({ limit, cursor }, "subscriptions", { status, organizationId });
  const { rest, values } = pageQuery(asked, [
    ["organization_id =", organizationId],
    ["status =", status],
  ]);
  return toPage(await db.find(subscriptions, rest, values), asked);
}

/** Returns the order of the next invoice, with the usage of the current period so far. */
async function orderOf(
  { catalog }: Deps,
  reader: Reader,
  subscription: SubscriptionRow,
): Promise<{ readonly order: InvoiceOrder; readonly difference: PlanDifference | null }> {
  const { terms: before, anchorAt, periodIndex } = subscription;
  const { currentPeriodStart: start, currentPeriodEnd: end } = subscription;
  const terms = pendingTermsOf(catalog, subscription) ?? before;
  const common = { subscription, terms, dueAt: null };
  if (periodIndex < 0) {
    // The first paid period is already invoiced, for another plan if the invoice was paid before a plan change.
    const first = await findFirstInvoice(reader, subscription);
    const difference = first === null ? null : planDifferenceOf(first, terms);
    const period = difference?.rest ?? periodAt(anchorAt, terms.interval, 1);
    return { order: { ...common, period, elapsed: null }, difference };
  }
  const period =
    terms.interval === before.interval
      ? periodAt(anchorAt, terms.interval, periodIndex + 1)
      : periodAt(end, terms.interval, 0);
  const elapsed = { terms: before, start, end };
  return { order: { ...common, period, elapsed }, difference: null };
}

async function rehearseOne(
  deps: Deps,
  tx: Tx,
  subscription: SubscriptionRow,
  organizationName: string,
): Promise<Rehearsal> {
  const { clock, issuer } = deps;
  const { order, difference } = await orderOf(deps, tx, subscription);
  const { inputs, usageCount } = await issuer.draft(tx, clock.now(), order);
  const charges = computeCharges(difference === null ? inputs : withDifference(inputs, difference));
  const { period, terms } = order;
  const { currency, decimals } = inputs;
  return {
    subscription,
    organizationName,
    period,
    planId: terms.id,
    currency,
    decimals,
    usageCount,
    charges,
  };
}

/** Adds a pending plan difference to the inputs of an invoice. */
function withDifference(
  { credits, adjustments, ...inputs }: ChargeInputs,
  { amount, description }: PlanDifference,
): ChargeInputs {
  const { currency } = inputs;
  return amount > 0n
    ? { ...inputs, credits, adjustments: [...adjustments, { id: "adj_", amount, description }] }
    : {
        ...inputs,
        adjustments,
        credits: [
          ...credits,
          { id: "crd_", remaining: -amount, currency, expiresAt: null, reason: description },
        ],
      };
}
