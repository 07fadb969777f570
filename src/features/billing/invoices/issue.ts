import type { InTx } from "../../../app.ts";
import { day, type Instant } from "../../../kernel/clock.ts";
import { Defect } from "../../../kernel/errors.ts";
import type { BillingPolicy } from "../../../platform/config/plans.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { countUsed } from "../../invoices/store.ts";
import {
  computeCharges,
  freezeInputs,
  thawInputs,
  type ChargeInputs,
  type Charges,
} from "../charges.ts";
import {
  consumeBalances,
  creditSurplus,
  lockBalances,
  restoreBalances,
} from "../balances/balances.ts";
import type { Period } from "../periods.ts";
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
  type PlatformInvoiceRow,
  type SubscriptionRow,
} from "../table.ts";
import { announcePlatformInvoice } from "../announce.ts";
import {
  collectionColumns,
  prepareCollectionInvoice,
  rememberCollectionInvoice,
  withdrawCollectionInvoices,
} from "./collection-invoice.ts";

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
