import { bind, type Bound } from "../../../kernel/bind.ts";
import { day, type Instant } from "../../../kernel/clock.ts";
import { Defect } from "../../../kernel/errors.ts";
import type { IdSource } from "../../../kernel/id.ts";
import type { BillingPolicy, PlanCatalog } from "../../../platform/config/plans.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { countUsed } from "../../invoices/store.ts";
import { computeCharges, freezeInputs, type ChargeInputs, type Charges } from "../charges.ts";
import type { Balances } from "../balances/balances.ts";
import type { Period } from "../periods.ts";
import {
  assetOf,
  minCollectableOf,
  overagePriceOf,
  policyOf,
  priceOf,
  type Terms,
} from "../plans.ts";
import {
  platformInvoiceLines,
  platformInvoices,
  type PlatformInvoiceRow,
  type SubscriptionRow,
} from "../table.ts";
import type { BillingAnnouncer } from "../announce.ts";
import { collectionColumns, type CollectionInvoices } from "./collection-invoice.ts";

/** A period that has ended, and the terms that applied to it. */
export interface ElapsedPeriod extends Period {
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
export interface Draft {
  readonly inputs: ChargeInputs;
  readonly charges: Charges;
  readonly usageCount: number | null;
  readonly policy: BillingPolicy;
}

export type Issuer = Bound<typeof methods>;

const numberDigits = 6;

interface Deps {
  readonly ids: IdSource;
  readonly catalog: PlanCatalog;
  readonly balances: Balances;
  readonly collectionInvoices: CollectionInvoices;
  readonly announcer: BillingAnnouncer;
}

const methods = { draft, issue };

export function makeIssuer(deps: Deps): Issuer {
  return bind(deps, methods);
}

/** Computes the invoice that `issue` would store, and locks the credits, discounts and adjustments that it uses. */
async function draft(
  { catalog, balances }: Deps,
  tx: Tx,
  at: Instant,
  order: InvoiceOrder,
): Promise<Draft> {
  const { terms, elapsed, subscription } = order;
  const { code: currency, decimals } = assetOf(terms);
  const usage = elapsed === null ? null : await countUsage(tx, subscription, elapsed);
  const policy = policyOf(catalog, terms.id);
  const inputs: ChargeInputs = {
    currency,
    decimals,
    at,
    usage,
    plan: { name: terms.name, price: priceOf(terms) },
    ...(await balances.open(tx, subscription.organizationId, currency)),
    minCollectable: minCollectableOf(policy, decimals),
  };
  return { inputs, charges: computeCharges(inputs), usageCount: usage?.count ?? null, policy };
}

/**
 * Issues a platform invoice in the caller's transaction, which has locked the subscription: takes its number, stores
 * its lines, uses credits, discounts and adjustments, and issues its collection invoice. Returns null if there is
 * nothing to charge. Throws the errors of issuing a collection invoice.
 */
async function issue(
  deps: Deps,
  tx: Tx,
  at: Instant,
  order: InvoiceOrder,
): Promise<PlatformInvoiceRow | null> {
  const { ids, balances, collectionInvoices, announcer } = deps;
  const { inputs, charges, usageCount, policy } = await draft(deps, tx, at, order);
  if (!asksForAnything(charges)) return null;
  const { subscription, period, elapsed } = order;
  const isPaid = !charges.isCollected;
  const unnumbered: Omit<PlatformInvoiceRow, "number"> = {
    id: ids.next("platformInvoice", at),
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
    : await collectionInvoices.prepare(tx, at, unnumbered, charges.total, policy);
  // From here on every other issue waits for this transaction, so everything that can be read has been read.
  const number = await takeNumber(tx);
  const collectionInvoice =
    issueCollectionInvoice === null ? null : await issueCollectionInvoice(number);
  const row = { ...unnumbered, number, ...collectionColumns(collectionInvoice) };
  const lines = linesOf(row, charges);
  await tx.insert(platformInvoices, row);
  await tx.insertMany(platformInvoiceLines, lines);
  if (collectionInvoice !== null) await collectionInvoices.remember(tx, at, row, collectionInvoice);
  await balances.consume(tx, at, row, charges);
  const view = { ...row, lines };
  await announcer.invoice(tx, at, "platform_invoice.issued", view);
  if (isPaid) await announcer.invoice(tx, at, "platform_invoice.paid", view);
  return row;
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
