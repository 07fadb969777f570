import type { InTx } from "../../../app.ts";
import { day, type Instant } from "../../../kernel/clock.ts";
import { Defect } from "../../../kernel/errors.ts";
import { formatMoney, money, settlementAsset } from "../../../kernel/money/money.ts";
import type { BillingPolicy } from "../../../platform/config/plans.ts";
import type { Reader, Tx } from "../../../platform/database/database.ts";
import { prepareManagedInvoice, withdrawInvoice } from "../../invoices/managed.ts";
import type { InvoiceView } from "../../invoices/records.ts";
import { countUsed, type InvoiceRow } from "../../invoices/store.ts";
import {
  computeCharges,
  freezeInputs,
  thawInputs,
  type ChargeInputs,
  type Charges,
} from "../charges.ts";
import {
  addEntry,
  consumeBalances,
  creditSurplus,
  lockBalances,
  madeFor,
  restoreBalances,
} from "../balances/balances.ts";
import { adjustment, credit } from "../balances/entries.ts";
import { periodAt, type Period } from "../periods.ts";
import {
  assetOf,
  minCollectableOf,
  overagePriceOf,
  policyOf,
  priceOf,
  type Terms,
} from "../plans.ts";
import { receivedAt, savePlatformInvoice, type LockedSubscription } from "../store.ts";
import {
  platformInvoiceLines,
  platformInvoices,
  platformInvoiceTwins,
  type PlatformInvoiceRow,
  type SubscriptionRow,
} from "../table.ts";
import { announcePlatformInvoice } from "../announce.ts";
import { noReceiveWallet, receiveTarget } from "./receive-wallet.ts";

/** A period that has ended, and the terms that applied to it. */
interface ElapsedPeriod extends Period {
  readonly terms: Terms;
}

export interface InvoiceOrder {
  readonly subscription: Pick<SubscriptionRow, "id" | "organizationId">;
  /** The period that is billed in advance, and its terms. */
  readonly period: Period;
  readonly terms: Terms;
  /** The period whose usage is billed in arrears; null: there was no such period. */
  readonly elapsed: ElapsedPeriod | null;
  /** Null: the policy's `dueDays` after the issue. */
  readonly dueAt: Instant | null;
}

/** A computed platform invoice, of which nothing is stored yet. */
interface Draft {
  readonly inputs: ChargeInputs;
  readonly charges: Charges;
  readonly usageCount: number | null;
  readonly policy: BillingPolicy;
}

const numberDigits = 6;

/**
 * Computes the invoice that `issuePlatformInvoice` would store, and locks the credits, discounts and adjustments that
 * it uses.
 */
export async function draftPlatformInvoice(
  tx: Tx,
  app: InTx,
  at: Instant,
  order: InvoiceOrder,
): Promise<Draft> {
  const { terms, elapsed, subscription } = order;
  const { code: currency, decimals } = assetOf(terms);
  const usage = elapsed === null ? null : await countUsage(tx, subscription, elapsed);
  const policy = policyOf(app.config.plans, terms.id);
  const inputs: ChargeInputs = {
    currency,
    decimals,
    at,
    usage,
    plan: { name: terms.name, price: priceOf(terms) },
    ...(await lockBalances(tx, subscription.organizationId, currency)),
    minCollectable: minCollectableOf(policy, decimals),
  };
  return { inputs, charges: computeCharges(inputs), usageCount: usage?.count ?? null, policy };
}

/**
 * Issues a platform invoice in the caller's transaction, which has locked the subscription: takes its number, stores
 * its lines, uses credits, discounts and adjustments, and issues its collection invoice. Returns null if there is
 * nothing to charge. Throws the errors of issuing a collection invoice.
 */
export async function issuePlatformInvoice(
  tx: Tx,
  app: InTx,
  at: Instant,
  order: InvoiceOrder,
): Promise<PlatformInvoiceRow | null> {
  const { inputs, charges, usageCount, policy } = await draftPlatformInvoice(tx, app, at, order);
  if (!asksForAnything(charges)) return null;
  const { subscription, period, elapsed } = order;
  const isPaid = !charges.isCollected;
  const unnumbered: Omit<PlatformInvoiceRow, "number"> = {
    id: app.ids.next("platformInvoice", at),
    organizationId: subscription.organizationId,
    subscriptionId: subscription.id,
    status: isPaid ? "paid" : "open",
    periodStart: period.start,
    periodEnd: period.end,
    currency: inputs.currency,
    decimals: inputs.decimals,
    subtotal: charges.subtotal,
    discountTotal: charges.discountTotal,
    creditTotal: charges.creditTotal,
    total: charges.total,
    inputs: freezeInputs(inputs),
    usageFrom: usageCount === null ? null : (elapsed?.start ?? null),
    usageTo: usageCount === null ? null : (elapsed?.end ?? null),
    usageCount,
    paidSurplus: 0n,
    issuedAt: at,
    dueAt: dueAtOf(order, policy, at),
    pastDueAt: null,
    dunningFrom: null,
    paidAt: isPaid ? at : null,
    voidedAt: null,
    remindersSent: 0,
    ...collectionColumns(null),
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
  const issueCollectionInvoice = isPaid
    ? null
    : await prepareCollectionInvoice(tx, app, at, unnumbered, charges.total, policy);
  // From here on every other issue waits for this transaction, so everything that can be read has been read.
  const number = await takeNumber(tx);
  const collectionInvoice =
    issueCollectionInvoice === null ? null : await issueCollectionInvoice(number);
  const row = { ...unnumbered, number, ...collectionColumns(collectionInvoice) };
  const lines = linesOf(row, charges);
  await tx.insert(platformInvoices, row);
  await tx.insertMany(platformInvoiceLines, lines);
  if (collectionInvoice !== null) await rememberCollectionInvoice(tx, at, row, collectionInvoice);
  await consumeBalances(tx, app, at, row, charges);
  const view = { ...row, lines };
  await announcePlatformInvoice(tx, app, at, "platform_invoice.issued", view);
  if (isPaid) await announcePlatformInvoice(tx, app, at, "platform_invoice.paid", view);
  return row;
}

/**
 * Voids a platform invoice of a locked subscription: its credits, discounts and adjustments become available again, and its
 * checkouts tell payers not to send anything. Confirmed payments become a credit in the same transaction; payments that
 * are confirmed later become one at that time.
 */
export async function voidPlatformInvoice(
  tx: Tx,
  app: InTx,
  at: Instant,
  invoice: PlatformInvoiceRow,
  locked: LockedSubscription,
): Promise<void> {
  const came = locked.collectionInvoices.get(invoice.id) ?? [];
  await withdrawCollectionInvoices(tx, app, at, came);
  const set = { status: "void", voidedAt: at, paidAt: null } as const;
  const saved = await savePlatformInvoice(tx, at, invoice, set);
  const row = await creditSurplus(tx, app, at, saved, came, receivedAt(came).confirmed);
  await restoreBalances(tx, app, at, row, computeCharges(thawInputs(row.inputs)));
  await announcePlatformInvoice(tx, app, at, "platform_invoice.void", row);
}

/** Returns whether any line has an amount. A free plan without other lines is not invoiced. */
function asksForAnything({ lines }: Charges): boolean {
  return lines.some(({ amount }) => amount !== 0n);
}

async function countUsage(
  tx: Tx,
  { organizationId }: InvoiceOrder["subscription"],
  { terms, start, end }: ElapsedPeriod,
): Promise<ChargeInputs["usage"]> {
  if (terms.includedInvoices === null) return null;
  return {
    planName: terms.name,
    count: await countUsed(tx, organizationId, start, end),
    included: terms.includedInvoices,
    overagePrice: overagePriceOf(terms),
  };
}

function dueAtOf({ dueAt }: InvoiceOrder, policy: BillingPolicy, at: Instant): Instant {
  return dueAt ?? at + policy.dueDays * day;
}

/** Takes the next number. Its row stays locked until the commit, so that the numbers have no gaps. */
async function takeNumber(tx: Tx): Promise<string> {
  const [taken] = await tx.all<{ next: number }>(
    `UPDATE billing_state SET next_number = next_number + 1, version = version + 1
     WHERE id = 'billing' RETURNING next_number AS "next"`,
  );
  if (taken === undefined) throw new Defect("billing_state has no row");
  return numberOf(taken.next - 1);
}

/** Formats an invoice number: 1 is `TILL-000001`. */
export function numberOf(count: number): string {
  return `TILL-${String(count).padStart(numberDigits, "0")}`;
}

function linesOf({ id }: Pick<PlatformInvoiceRow, "id">, { lines }: Charges) {
  return lines.map((line, position) => ({
    id: `${id}_${String(position)}`,
    platformInvoiceId: id,
    position,
    ...line,
  }));
}

// The first invoice of a subscription with a trial is kept in line with its plan. It is issued when the trial begins, for
// the period that follows the trial, so a plan change during the trial comes after the invoice (decision 16).

/**
 * The plan difference of a first invoice: between the plan that it charged and the plan that applies to its period.
 */
export interface PlanDifference {
  /**
   * In the smallest unit of the invoice's currency. A positive amount is charged as a line of the next invoice, a
   * negative one is credited.
   */
  readonly amount: bigint;
  /** The text of the line, or the reason of the credit. */
  readonly description: string;
  /**
   * The dates of the invoice for a longer period, to be issued immediately; null: none. It charges the plan's full price,
   * and the credit in `amount` offsets what the first invoice charged.
   */
  readonly rest: Period | null;
}

/** Finds the invoice of the period that follows a trial; null if none exists, or only void ones. */
export function findFirstInvoice(
  reader: Reader,
  { id, anchorAt }: Pick<SubscriptionRow, "id" | "anchorAt">,
): Promise<PlatformInvoiceRow | null> {
  return reader.findOne(
    platformInvoices,
    "WHERE subscription_id = $1 AND period_start = $2 AND status <> 'void'",
    [id, anchorAt],
  );
}

/**
 * Returns the unpaid first invoice of a trial if it is for other terms than these; null if no such invoice exists, if
 * it is for these terms, or if a payment waits for its confirmations.
 */
export function staleFirstInvoice(
  { subscription, invoices, collectionInvoices }: LockedSubscription,
  terms: Terms,
): PlatformInvoiceRow | null {
  const { status, cancelAt, anchorAt } = subscription;
  // A subscription that ends with its trial has no period to invoice: its invoice will be voided.
  if (status !== "trialing" || cancelAt !== null) return null;
  const first = invoices.find((one) => one.status === "open" && one.periodStart === anchorAt);
  if (first === undefined || isFor(first, terms)) return null;
  const { seen, confirmed } = receivedAt(collectionInvoices.get(first.id) ?? []);
  return seen > confirmed ? null : first;
}

/**
 * Returns what is to be charged or credited because a first invoice was issued for another plan than `terms`; null if it
 * was issued for that plan. Both prices are computed with the invoice's own discounts. Its credits are ignored, because
 * they are a means of payment.
 */
export function planDifferenceOf(first: PlatformInvoiceRow, terms: Terms): PlanDifference | null {
  if (isFor(first, terms)) return null;
  const inputs = thawInputs(first.inputs);
  const chargedFor = (price: bigint): bigint => {
    const { subtotal, discountTotal } = computeCharges({ ...inputs, plan: { name: "", price } });
    return subtotal - discountTotal;
  };
  const { name } = inputs.plan;
  const { end } = periodAt(first.periodStart, terms.interval, 0);
  if (end > first.periodEnd) {
    return {
      amount: chargedFor(0n) - chargedFor(inputs.plan.price),
      description: `${name} plan in ${first.number}`,
      rest: { start: first.periodEnd, end },
    };
  }
  return {
    amount: chargedFor(priceOf(terms)) - chargedFor(inputs.plan.price),
    description: `${terms.name} plan instead of ${name} plan in ${first.number}`,
    rest: null,
  };
}

/** Returns whether an invoice charges for the first period of a plan with these terms. */
function isFor({ inputs, periodStart, periodEnd }: PlatformInvoiceRow, terms: Terms): boolean {
  const { name, price } = thawInputs(inputs).plan;
  return (
    name === terms.name &&
    price === priceOf(terms) &&
    periodEnd === periodAt(periodStart, terms.interval, 0).end
  );
}

/**
 * Replaces the unpaid first invoice of a trial with one for the plan that will apply to its period, due at the same
 * time; issues it if none exists yet. Payments confirmed for the old one become a credit, which the new one uses. An
 * invoice that is paid, or has a payment in flight, stays. Returns the updated subscription. Throws the errors of issuing.
 */
export async function alignFirstInvoice(
  tx: Tx,
  app: InTx,
  at: Instant,
  locked: LockedSubscription,
  terms: Terms,
): Promise<LockedSubscription> {
  const { subscription } = locked;
  const { status, anchorAt } = subscription;
  if (status !== "trialing") return locked;
  const stale = staleFirstInvoice(locked, terms);
  if (stale === null && (await findFirstInvoice(tx, subscription)) !== null) return locked;
  if (stale !== null) await voidPlatformInvoice(tx, app, at, stale, locked);
  const issued = await issuePlatformInvoice(tx, app, at, {
    subscription,
    terms,
    elapsed: null,
    period: periodAt(anchorAt, terms.interval, 0),
    // Dunning may be paused after a reorganization, to leave time to pay again.
    dueAt: Math.max(stale?.dueAt ?? anchorAt, stale?.dunningFrom ?? anchorAt),
  });
  const others = locked.invoices.filter(({ id }) => id !== stale?.id);
  return { ...locked, invoices: issued?.status === "open" ? [...others, issued] : others };
}

/**
 * Charges or credits the plan difference of a first invoice. Call it once, when the trial has ended, with the
 * subscription in the first period after it, paid or not. Returns the invoice that it issued for the rest of a longer
 * period; null: none.
 */
export async function chargePlanDifference(
  tx: Tx,
  app: InTx,
  at: Instant,
  subscription: SubscriptionRow,
): Promise<PlatformInvoiceRow | null> {
  const first = await findFirstInvoice(tx, subscription);
  const difference = first === null ? null : planDifferenceOf(first, subscription.terms);
  if (first === null || difference === null) return null;
  const { amount, description, rest } = difference;
  const made = madeFor(first);
  if (amount > 0n) await addEntry(tx, app, at, adjustment, { ...made, amount, description });
  if (amount < 0n) {
    const terms = { amount: -amount, reason: description, expiresAt: null, sourceInvoiceId: null };
    await addEntry(tx, app, at, credit, { ...made, ...terms });
  }
  if (rest === null) return null;
  const { terms } = subscription;
  return issuePlatformInvoice(tx, app, at, {
    subscription,
    terms,
    period: rest,
    elapsed: null,
    dueAt: null,
  });
}

/** The fields of a platform invoice from which its collection invoice is made. */
type Collected = Pick<
  PlatformInvoiceRow,
  "id" | "organizationId" | "currency" | "decimals" | "dueAt"
>;

/** The columns of a platform invoice that identify its collection invoice. */
type CollectionColumns = Pick<PlatformInvoiceRow, "twinId" | "twinPublicId" | "twinCheckoutId">;

// Collection invoices are the ordinary invoices of the platform organization by which platform invoices are paid.

/**
 * Prepares a collection invoice over an amount at the receive wallet. Returns the function that issues it, given the
 * number of the platform invoice. Throws `no_receive_wallet`; both throw the errors of issuing an ordinary invoice.
 */
export async function prepareCollectionInvoice(
  tx: Tx,
  app: InTx,
  at: Instant,
  invoice: Collected,
  amount: bigint,
  policy: BillingPolicy,
): Promise<(number: string) => Promise<InvoiceView>> {
  const target = await receiveTarget(tx, app);
  if (target === null) throw noReceiveWallet();
  const { id, organizationId, currency, decimals, dueAt } = invoice;
  const patience = (policy.graceDays + policy.cancelAfterSuspendedDays) * day;
  const issue = await prepareManagedInvoice(tx, app, at, target.organizationId, {
    amount: formatMoney(money(amount, settlementAsset(currency, decimals))),
    settlementCurrency: currency,
    tokenSymbol: target.token.symbol,
    network: target.network.id,
    walletId: target.wallet.id,
    metadata: { platformInvoiceId: id, organizationId },
    // A replacement is issued when the debt is old; it stays payable for as long as the first one did.
    expiresAt: Math.max(dueAt, at) + patience,
  });
  return (number) => issue(`Invoice ${number}`);
}

/** Stores which platform invoice a collection invoice belongs to. Call it after inserting the platform invoice. */
export async function rememberCollectionInvoice(
  tx: Tx,
  at: Instant,
  { id }: Pick<Collected, "id">,
  collectionInvoice: InvoiceView,
): Promise<void> {
  await tx.insert(platformInvoiceTwins, {
    twinId: collectionInvoice.id,
    platformInvoiceId: id,
    createdAt: at,
  });
}

/** Makes checkouts tell payers not to send anything anymore; payments that still arrive are counted. */
export async function withdrawCollectionInvoices(
  tx: Tx,
  app: InTx,
  at: Instant,
  collectionInvoices: readonly InvoiceRow[],
): Promise<void> {
  for (const collectionInvoice of collectionInvoices)
    await withdrawInvoice(tx, app, at, collectionInvoice);
}

export function collectionColumns(collectionInvoice: InvoiceView | null): CollectionColumns {
  return {
    twinId: collectionInvoice?.id ?? null,
    twinPublicId: collectionInvoice?.publicId ?? null,
    twinCheckoutId: collectionInvoice?.checkoutId ?? null,
  };
}

/** Returns whether payers can still pay a collection invoice, or its payment is being confirmed. */
export function isPayable(collectionInvoice: InvoiceRow, at: Instant): boolean {
  if (collectionInvoice.status === "confirming") return true;
  const isOpen =
    collectionInvoice.status === "open" || collectionInvoice.status === "partially_paid";
  return isOpen && collectionInvoice.expiresAt !== null && collectionInvoice.expiresAt > at;
}
