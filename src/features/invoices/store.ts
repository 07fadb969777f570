import type { Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import { examinedMax } from "../../platform/database/query/facets.ts";
import { text, time, type RowOf, type SqlValue } from "../../platform/database/schema/table.ts";
import type { Reader, Tx } from "../../platform/database/database.ts";
import { among, givenRows, givenTexts, listed } from "../../platform/database/query/json-rows.ts";
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

/** Finds an organization's invoices with these externalIds. */
export function findByExternalIds(
  reader: Reader,
  organizationId: Id<"organization">,
  externalIds: readonly string[],
): Promise<InvoiceRow[]> {
  const { dialect } = reader;
  const lowered = `(SELECT lower(given.value) FROM ${givenTexts(dialect, 2, "given")})`;
  return reader.find(
    invoices,
    `WHERE organization_id = $1 AND lower(external_id) ${among(dialect, lowered)}
     AND external_id IN ${listed(dialect, 2)}`,
    [organizationId, JSON.stringify(externalIds)],
  );
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

/** Stores the results of settlements: those of invoices with one option in one statement, and the others in another. */
export async function saveStates(tx: Tx, rows: readonly InvoiceRow[]): Promise<void> {
  await tx.updateMany(
    invoices,
    rows
      .filter(({ paymentOptions }) => paymentOptions === null)
      .map((row) => ({ where: { id: row.id }, set: stateColumns(row) })),
  );
  await tx.updateMany(
    invoices,
    rows
      .filter(({ paymentOptions }) => paymentOptions !== null)
      .map((row) => ({
        where: { id: row.id },
        set: { ...stateColumns(row), ...optionColumns(row) },
      })),
  );
}

/** The columns that depend on the option in force: those that `putInForce` sets. */
const inForceColumns = [
  "network",
  "tokenSymbol",
  "tokenDecimals",
  "requiredConfirmations",
  "exchangeRate",
  "dustAmount",
  "walletId",
  "walletAddress",
  "addressIndex",
  "payableAmount",
  "askedAmount",
  "remainingAmount",
  "seenAmount",
  "confirmedAmount",
  "latestBlock",
  "paidAmount",
  "paymentOptions",
] as const satisfies readonly (keyof InvoiceRow)[];

/** The columns that depend on the option in force; whoever sets them compiles only with all of them, and no other. */
export type InForce = Pick<InvoiceRow, (typeof inForceColumns)[number]>;

export function optionColumns(row: InvoiceRow): InForce {
  return Object.fromEntries(inForceColumns.map((name) => [name, row[name]])) as unknown as InForce;
}

function stateColumns(row: InvoiceRow) {
  return {
    status: row.status,
    exception: row.exception,
    version: row.version,
    remainingAmount: row.remainingAmount,
    seenAmount: row.seenAmount,
    confirmedAmount: row.confirmedAmount,
    isLate: row.isLate,
    isReverted: row.isReverted,
    latestBlock: row.latestBlock,
    completedAt: row.completedAt,
    paidAt: row.paidAt,
    updatedAt: row.updatedAt,
    transactionHashes: row.transactionHashes,
    aside: row.aside,
    askedAmount: row.askedAmount,
    countedAt: row.countedAt,
  };
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
 * Counts the invoices of an organization that count against its plan from one time on and before another. Canceled ones
 * count; drafts, managed ones, and those that payers started at links and sent no money for do not. Counting stops at
 * `atMost`.
 */
export async function countUsed(
  reader: Reader,
  organizationId: Id<"organization">,
  from: Instant,
  to: Instant,
  atMost: number = Number.MAX_SAFE_INTEGER,
): Promise<number> {
  const [counted] = await reader.all<{ used: number }>(
    `SELECT COUNT(*) AS "used" FROM (
       SELECT 1 FROM invoices WHERE organization_id = $1 AND counted_at >= $2 AND counted_at < $3 LIMIT $4
     ) AS counted`,
    [organizationId, from, to, atMost],
  );
  return counted?.used ?? 0;
}

/** Returns invoices of any organization, in the order of their ids. */
export function invoicesById(reader: Reader, invoiceIds: readonly string[]): Promise<InvoiceRow[]> {
  return reader.find(invoices, `WHERE id IN ${listed(reader.dialect, 1)} ORDER BY id`, [
    JSON.stringify(invoiceIds),
  ]);
}

const windowRows = givenRows("given", {
  organizationId: text<Id<"organization">>(),
  startsAt: time(),
  endsAt: time(),
});

/** Counts invoices as `countUsed` does, for several organizations with a period each, in one statement. */
export async function countUsedOf(
  reader: Reader,
  windows: readonly {
    readonly organizationId: Id<"organization">;
    readonly from: Instant;
    readonly to: Instant;
  }[],
): Promise<ReadonlyMap<Id<"organization">, number>> {
  if (windows.length === 0) return new Map();
  const rows = await reader.all<{ organizationId: Id<"organization">; used: number }>(
    `SELECT given.organization_id AS "organizationId", (
       SELECT COUNT(*) FROM invoices WHERE organization_id = given.organization_id
         AND counted_at >= given.starts_at AND counted_at < given.ends_at
     ) AS "used" FROM ${windowRows.from(reader.dialect, 1)}`,
    [
      windowRows.values(
        windows.map(({ organizationId, from, to }) => ({
          organizationId,
          startsAt: from,
          endsAt: to,
        })),
      ),
    ],
  );
  return new Map(rows.map(({ organizationId, used }) => [organizationId, used]));
}
