import type { Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import { examinedMax } from "../../platform/database/query/facets.ts";
import {
  encodeAmount,
  type Reader,
  type RowOf,
  type SqlValue,
  type Tx,
} from "../../platform/database/index.ts";
import { givenRows, listed } from "../../platform/database/query/json-rows.ts";
import { reopensMs } from "./rules.ts";
import { invoices } from "./table.ts";

export type InvoiceRow = RowOf<typeof invoices>;

export function findInvoice(
  reader: Reader,
  organizationId: Id<"organization">,
  invoiceId: Id<"invoice">,
): Promise<InvoiceRow | null> {
  return reader.findOne(invoices, "WHERE organization_id = $1 AND id = $2", [
    organizationId,
    invoiceId,
  ]);
}

export function findByExternalId(
  reader: Reader,
  organizationId: Id<"organization">,
  externalId: string,
): Promise<InvoiceRow | null> {
  return reader.findOne(
    invoices,
    "WHERE organization_id = $1 AND lower(external_id) = lower($2) AND external_id = $2",
    [organizationId, externalId],
  );
}

/** Finds the invoice of a checkout session. The unguessable id is the payer's only credential. */
export function findByCheckoutId(reader: Reader, checkoutId: string): Promise<InvoiceRow | null> {
  return reader.findOne(invoices, "WHERE checkout_id = $1", [checkoutId]);
}

/**
 * Returns the ids of an organization's invoices that satisfy a condition on the invoices or on their search terms, with
 * values from `$2` on; at most one more than a page examines.
 */
export async function invoiceIdsWhere(
  reader: Reader,
  organizationId: Id<"organization">,
  table: "invoices" | "invoice_terms",
  condition: string,
  ...values: readonly SqlValue[]
): Promise<Id<"invoice">[]> {
  const rows = await reader.all<{ id: Id<"invoice"> }>(
    `SELECT ${table === "invoices" ? "id" : "invoice_id"} AS "id" FROM ${table}
     WHERE organization_id = $1 AND ${condition} LIMIT ${String(examinedMax + 1)}`,
    [organizationId, ...values],
  );
  return rows.map(({ id }) => id);
}

/** Locks invoices of any organization, in the order of their ids. */
export function lockInvoices(tx: Tx, invoiceIds: readonly Id<"invoice">[]): Promise<InvoiceRow[]> {
  return tx.lock(invoices, `WHERE id IN ${listed(tx.dialect, 1)} ORDER BY id`, [
    JSON.stringify(invoiceIds),
  ]);
}

/** Stores the results of settlements, all of them in one statement. */
export async function saveStates(tx: Tx, rows: readonly InvoiceRow[]): Promise<void> {
  if (rows.length === 0) return;
  const number = (place: number) => `CAST(given.value ->> ${String(place)} AS bigint)`;
  await tx.run(
    `UPDATE invoices SET status = given.value ->> 1, exception = given.value ->> 2, version = ${number(3)},
       remaining_amount = given.value ->> 4, seen_amount = given.value ->> 5, confirmed_amount = given.value ->> 6,
       is_late = ${number(7)}, is_reverted = ${number(8)}, latest_block = ${number(9)}, completed_at = ${number(10)},
       paid_at = ${number(11)}, updated_at = ${number(12)}, transaction_hashes = given.value ->> 13,
       asked_amount = given.value ->> 14
     FROM ${givenRows[tx.dialect]} WHERE invoices.id = given.value ->> 0`,
    [JSON.stringify(rows.map(standingValues))],
  );
}

function standingValues(row: InvoiceRow): SqlValue[] {
  return [
    row.id,
    row.status,
    row.exception,
    row.version,
    row.remainingAmount === null ? null : encodeAmount(row.remainingAmount),
    encodeAmount(row.seenAmount),
    encodeAmount(row.confirmedAmount),
    row.isLate ? 1 : 0,
    row.isReverted ? 1 : 0,
    row.latestBlock,
    row.completedAt,
    row.paidAt,
    row.updatedAt,
    JSON.stringify(row.transactionHashes),
    row.askedAmount === null ? null : encodeAmount(row.askedAmount),
  ];
}

/** Returns the ids of unpaid invoices whose deadline is before a time, the earliest first. */
export async function dueInvoices(
  reader: Reader,
  network: string,
  before: Instant,
  limit: number,
): Promise<Id<"invoice">[]> {
  const rows = await reader.all<{ id: Id<"invoice"> }>(
    `SELECT id FROM invoices WHERE network = $1 AND status IN ('open', 'partially_paid') AND expires_at < $2
     ORDER BY expires_at LIMIT $3`,
    [network, before, limit],
  );
  return rows.map(({ id }) => id);
}

/**
 * Returns the ids of expired invoices that a wrong time expired: their deadline is at least `reopensMs` after `time`,
 * and they have a live hold.
 */
export async function expiredTooEarly(
  reader: Reader,
  network: string,
  time: Instant,
  limit: number,
): Promise<Id<"invoice">[]> {
  const rows = await reader.all<{ id: Id<"invoice"> }>(
    `SELECT id FROM invoices WHERE network = $1 AND status = 'expired' AND expires_at >= $2
       AND EXISTS (SELECT 1 FROM holds WHERE holds.invoice_id = invoices.id AND holds.released_at IS NULL)
     ORDER BY expires_at LIMIT $3`,
    [network, time + reopensMs, limit],
  );
  return rows.map(({ id }) => id);
}

/**
 * Counts the invoices of an organization that were issued from one time on and before another. Canceled ones count;
 * drafts and managed ones do not. Counting stops at `atMost`.
 */
export async function countIssued(
  reader: Reader,
  organizationId: Id<"organization">,
  from: Instant,
  to: Instant,
  atMost: number = Number.MAX_SAFE_INTEGER,
): Promise<number> {
  const [counted] = await reader.all<{ issued: number }>(
    `SELECT COUNT(*) AS "issued" FROM (
       SELECT 1 FROM invoices WHERE organization_id = $1 AND issued_at >= $2 AND issued_at < $3
         AND managed_by IS NULL LIMIT $4
     ) AS counted`,
    [organizationId, from, to, atMost],
  );
  return counted?.issued ?? 0;
}

/** Returns invoices of any organization, in the order of their ids. */
export function invoicesById(reader: Reader, invoiceIds: readonly string[]): Promise<InvoiceRow[]> {
  return reader.find(invoices, `WHERE id IN ${listed(reader.dialect, 1)} ORDER BY id`, [
    JSON.stringify(invoiceIds),
  ]);
}

/** Counts issued invoices as `countIssued` does, for several organizations with a period each, in one statement. */
export async function countIssuedOf(
  reader: Reader,
  windows: readonly {
    readonly organizationId: Id<"organization">;
    readonly from: Instant;
    readonly to: Instant;
  }[],
): Promise<ReadonlyMap<Id<"organization">, number>> {
  if (windows.length === 0) return new Map();
  const rows = await reader.all<{ organizationId: Id<"organization">; issued: number }>(
    `SELECT given.value ->> 0 AS "organizationId", (
       SELECT COUNT(*) FROM invoices WHERE organization_id = given.value ->> 0 AND managed_by IS NULL
         AND issued_at >= CAST(given.value ->> 1 AS BIGINT) AND issued_at < CAST(given.value ->> 2 AS BIGINT)
     ) AS "issued" FROM ${givenRows[reader.dialect]}`,
    [JSON.stringify(windows.map(({ organizationId, from, to }) => [organizationId, from, to]))],
  );
  return new Map(rows.map(({ organizationId, issued }) => [organizationId, issued]));
}
