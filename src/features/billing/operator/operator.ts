import type { App, InTx } from "../../../app.ts";
import { notFound } from "../../../kernel/errors.ts";
import { mapPage, parsePage, toPage, type Page } from "../../../kernel/page.ts";
import type { Reader, Tx, WriteContext } from "../../../platform/database/database.ts";
import { pageQuery } from "../../../platform/database/query/lists.ts";
import { namesOf } from "../../organizations/store.ts";
import { billingChecks } from "../checks.ts";
import { computeCharges, type ChargeInputs } from "../charges.ts";
import {
  draftPlatformInvoice,
  findFirstInvoice,
  planDifferenceOf,
  type InvoiceOrder,
  type PlanDifference,
} from "../invoices/issue.ts";
import { periodAfter } from "../lifecycle/rules.ts";
import { periodAt } from "../periods.ts";
import { pendingTermsOf } from "../plans.ts";
import { liveSubscription, unpaidOf } from "../store.ts";
import { subscriptions, type SubscriptionRow } from "../table.ts";
import type { InvoicePreview, OperatedSubscription, SubscriptionFilters } from "./admin-records.ts";

// Reads of billing for operators at the command line.

/** Returns a page of the subscriptions of all organizations, newest first. */
export async function listSubscriptions(
  app: App,
  query: SubscriptionFilters,
): Promise<Page<OperatedSubscription>> {
  const { found, nameOf } = await pageOf(app, query);
  const owed = await unpaidOf(
    app.db,
    found.data.map(({ id }) => id),
  );
  return mapPage(found, (subscription) => ({
    subscription,
    organizationName: nameOf(subscription),
    owedInvoices: owed.filter((one) => one.subscriptionId === subscription.id).length,
  }));
}

/** Computes next invoices with the function that issues them, and stores nothing. */
export async function previewPlatformInvoices(
  app: App,
  context: WriteContext,
  query: SubscriptionFilters,
): Promise<Page<InvoicePreview>> {
  const { db } = app;
  const { organizationId } = query;
  if (organizationId !== undefined && (await liveSubscription(db, organizationId)) === null) {
    throw notFound();
  }
  const { found, nameOf } = await pageOf(app, query);
  const data: InvoicePreview[] = [];
  for (const one of found.data) {
    if (one.status === "suspended" || one.status === "canceled") continue;
    // It ends with the current period, so no invoice follows.
    if (one.cancelAt !== null) continue;
    // A write transaction, because computing it locks rows; it changes nothing.
    data.push(await db.write(context, (tx) => previewOne(tx, app, one, nameOf(one))));
  }
  return { data, nextCursor: found.nextCursor };
}

/** Runs all billing checks, which recompute every platform invoice and balance. */
export async function verifyBilling({ db }: App) {
  const data = [];
  for (const check of billingChecks) {
    const { name, describe } = check;
    data.push({ name, describe, violations: await check.run(db) });
  }
  return { data, nextCursor: null };
}

async function pageOf({ db }: App, { limit, cursor, status, organizationId }: SubscriptionFilters) {
  const asked = parsePage({ limit, cursor }, "subscriptions", { status, organizationId });
  const { rest, values } = pageQuery(asked, [
    ["organization_id =", organizationId],
    ["status =", status],
  ]);
  const found = toPage(await db.find(subscriptions, rest, values), asked);
  const names = await namesOf(
    db,
    found.data.map((one) => one.organizationId),
  );
  return { found, nameOf: (one: SubscriptionRow) => names.get(one.organizationId) ?? "" };
}

/** Returns the order of the next invoice, with the usage of the current period so far. */
async function orderOf(
  reader: Reader,
  { config }: InTx,
  subscription: SubscriptionRow,
): Promise<{ readonly order: InvoiceOrder; readonly difference: PlanDifference | null }> {
  const { terms: before, anchorAt, periodIndex } = subscription;
  const terms = pendingTermsOf(config.plans, subscription) ?? before;
  const common = { subscription, terms, dueAt: null };
  if (periodIndex < 0) {
    // The first paid period is already invoiced, for another plan if the invoice was paid before a plan change.
    const first = await findFirstInvoice(reader, subscription);
    const difference = first === null ? null : planDifferenceOf(first, terms);
    const period = difference?.rest ?? periodAt(anchorAt, terms.interval, 1);
    return { order: { ...common, period, elapsed: null }, difference };
  }
  const period = periodAfter(subscription, terms.interval);
  const { currentPeriodStart: start, currentPeriodEnd: end } = subscription;
  const elapsed = { terms: before, start, end };
  return { order: { ...common, period, elapsed }, difference: null };
}

async function previewOne(
  tx: Tx,
  app: InTx,
  subscription: SubscriptionRow,
  organizationName: string,
): Promise<InvoicePreview> {
  const { order, difference } = await orderOf(tx, app, subscription);
  const { inputs, usageCount } = await draftPlatformInvoice(tx, app, app.clock.now(), order);
  const charges = computeCharges(difference === null ? inputs : withDifference(inputs, difference));
  return { order, organizationName, inputs, usageCount, charges };
}

/** Adds a pending plan difference to the inputs of an invoice. */
function withDifference(
  inputs: ChargeInputs,
  { amount, description }: PlanDifference,
): ChargeInputs {
  const { adjustments, credits, currency } = inputs;
  if (amount > 0n) {
    return { ...inputs, adjustments: [...adjustments, { id: "adj_", amount, description }] };
  }
  const terms = { remaining: -amount, currency, expiresAt: null, reason: description };
  return { ...inputs, credits: [...credits, { id: "crd_", ...terms }] };
}
