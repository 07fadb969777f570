import type { Id } from "../../../kernel/id.ts";
import type { Reader, Tx } from "../../../platform/database/database.ts";
import { givenRows, listed } from "../../../platform/database/query/json-rows.ts";
import { payments, transfers, type PaymentRow, type TransferRow } from "../table.ts";

// --- transfers ----------------------------------------------------------------------------------------------------

/** Returns the transfers that a reorganization may still remove. */
export function revocableTransfers(reader: Reader, network: string): Promise<TransferRow[]> {
  return reader.find(
    transfers,
    "WHERE network = $1 AND is_final = 0 AND status = 'seen' ORDER BY block_height, log_index",
    [network],
  );
}

/** Returns every transfer of these transactions, in any status. */
export function transfersOfTransactions(
  reader: Reader,
  network: string,
  hashes: readonly string[],
): Promise<TransferRow[]> {
  if (hashes.length === 0) return Promise.resolve([]);
  return reader.find(
    transfers,
    `WHERE network = $1 AND transaction_hash IN ${listed(reader.dialect, 2)}`,
    [network, JSON.stringify(hashes)],
  );
}

export async function transfersById(
  reader: Reader,
  ids: readonly Id<"transfer">[],
): Promise<Map<Id<"transfer">, TransferRow>> {
  if (ids.length === 0) return new Map();
  const rows = await reader.find(transfers, `WHERE id IN ${listed(reader.dialect, 1)}`, [
    JSON.stringify(ids),
  ]);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Marks transfers as orphaned. */
export async function takeOffChain(tx: Tx, ids: readonly Id<"transfer">[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.run(`UPDATE transfers SET status = 'orphaned' WHERE id IN ${listed(tx.dialect, 1)}`, [
    JSON.stringify(ids),
  ]);
}

const { id, blockHeight, blockHash, blockTime, ...others } = transfers.columns;
const movedRows = givenRows("given", {
  id,
  blockHeight,
  blockHash,
  blockTime,
  organizationId: others.organizationId.nullable(),
  invoiceId: others.invoiceId.nullable(),
  disposition: others.disposition.nullable(),
  waitingReason: others.waitingReason,
});

/**
 * Stores the current positions of transfers on the chain. The rows may be out of date, so organization, invoice and
 * disposition are written only for transfers that were matched in this transaction.
 */
export async function putOnChain(
  tx: Tx,
  moved: readonly { readonly row: TransferRow; readonly isMatched: boolean }[],
): Promise<void> {
  if (moved.length === 0) return;
  await tx.run(
    `UPDATE transfers SET status = 'seen', block_height = given.block_height,
      verification = CASE
        WHEN transfers.verification = 'verified' AND transfers.block_hash <> given.block_hash THEN 'open'
        WHEN transfers.verification = 'skipped' AND given.invoice_id IS NOT NULL THEN 'open'
        ELSE transfers.verification END,
      block_hash = given.block_hash, block_time = given.block_time,
      organization_id = COALESCE(given.organization_id, transfers.organization_id),
      invoice_id = COALESCE(given.invoice_id, transfers.invoice_id),
      disposition = COALESCE(given.disposition, transfers.disposition),
      waiting_reason = given.waiting_reason
     FROM ${movedRows.from(tx.dialect, 1)} WHERE transfers.id = given.id`,
    [
      movedRows.values(
        moved.map(({ row, isMatched }) =>
          isMatched ? row : { ...row, organizationId: null, invoiceId: null, disposition: null },
        ),
      ),
    ],
  );
}

export async function insertTransfers(tx: Tx, rows: readonly TransferRow[]): Promise<void> {
  await tx.insertMany(transfers, rows);
}

/**
 * Marks transfers at or below a final block as final, except those in gaps that nobody accepted: the watcher passed over
 * their blocks, which may have been replaced by then.
 */
export async function finalizeTransfers(tx: Tx, network: string, height: number): Promise<void> {
  await tx.run(
    `UPDATE transfers SET is_final = 1
     WHERE network = $1 AND is_final = 0 AND status = 'seen' AND block_height <= $2
      AND NOT EXISTS (SELECT 1 FROM network_gaps AS gap
       WHERE gap.network = $1 AND gap.accepted_at IS NULL
        AND transfers.block_height BETWEEN gap.from_height AND gap.to_height)`,
    [network, height],
  );
}

/** Marks transfers above a block as no longer final. */
export async function reviveTransfers(tx: Tx, network: string, height: number): Promise<void> {
  await tx.run(
    `UPDATE transfers SET is_final = 0
     WHERE network = $1 AND is_final = 1 AND status = 'seen' AND block_height > $2`,
    [network, height],
  );
}

/**
 * Returns transfers that count for no invoice, or not as a whole, and whose final blocks the providers have not confirmed
 * yet, after an id.
 */
export function unverifiedTransfers(
  reader: Reader,
  network: string,
  after: string,
  limit: number,
): Promise<TransferRow[]> {
  return reader.find(
    transfers,
    `WHERE network = $1 AND id > $2 AND ${isUnverifiedSql} ORDER BY id LIMIT $3`,
    [network, after, limit],
  );
}

/** Returns those of the given transfers that are still to be verified. */
export async function unverifiedAmong(
  reader: Reader,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await reader.all<{ id: string }>(
    `SELECT id FROM transfers WHERE ${isUnverifiedSql} AND id IN ${listed(reader.dialect, 1)}`,
    [JSON.stringify(ids)],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Must match the condition of the index `transfers_unverified`. */
const isUnverifiedSql =
  "verification = 'open' AND is_final = 1 AND status = 'seen' AND disposition <> 'matched'";

const verifiedRows = givenRows("given", { id, blockHash });

/** Marks transfers as verified, unless they have left the block in which they were. */
export async function markVerified(tx: Tx, rows: readonly TransferRow[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.run(
    `UPDATE transfers SET verification = 'verified'
     FROM ${verifiedRows.from(tx.dialect, 1)}
     WHERE transfers.id = given.id AND transfers.block_hash = given.block_hash AND transfers.status = 'seen'`,
    [verifiedRows.values(rows)],
  );
}

// --- payments -----------------------------------------------------------------------------------------------------

/** Returns the invoices to which transfers are or were assigned. */
export async function allocationsOf(
  reader: Reader,
  transferIds: readonly Id<"transfer">[],
): Promise<{ readonly transferId: Id<"transfer">; readonly invoiceId: Id<"invoice"> }[]> {
  if (transferIds.length === 0) return [];
  return reader.all(
    `SELECT transfer_id AS "transferId", invoice_id AS "invoiceId" FROM payments
     WHERE transfer_id IN ${listed(reader.dialect, 1)}`,
    [JSON.stringify(transferIds)],
  );
}

/** Locks and returns every payment of some invoices. */
export function lockPayments(tx: Tx, invoiceIds: readonly Id<"invoice">[]): Promise<PaymentRow[]> {
  if (invoiceIds.length === 0) return Promise.resolve([]);
  return tx.lock(payments, `WHERE invoice_id IN ${listed(tx.dialect, 1)} ORDER BY id`, [
    JSON.stringify(invoiceIds),
  ]);
}

export async function insertPayments(tx: Tx, rows: readonly PaymentRow[]): Promise<void> {
  await tx.insertMany(payments, rows);
}

/** Writes the changeable columns of payments. */
export async function updatePayments(tx: Tx, rows: readonly PaymentRow[]): Promise<void> {
  await tx.updateMany(
    payments,
    rows.map((row) => ({
      where: { id: row.id },
      set: {
        settlementAmount: row.settlementAmount,
        roundingAmount: row.roundingAmount,
        status: row.status,
        statusWhenBack: row.statusWhenBack,
        blockHeight: row.blockHeight,
        blockHash: row.blockHash,
        blockTime: row.blockTime,
        confirmsAtHeight: row.confirmsAtHeight,
        refundRequested: row.refundRequested,
        refunded: row.refunded,
        version: row.version,
        confirmedAt: row.confirmedAt,
      },
    })),
  );
}

/** A position in the order in which payments confirm. */
export interface ConfirmingPosition {
  readonly height: number;
  readonly id: string;
}

/** Returns payments after a position that have their confirmations at a tip and are not confirmed yet. */
export function maturePayments(
  reader: Reader,
  network: string,
  tipHeight: number,
  after: ConfirmingPosition,
  limit: number,
): Promise<PaymentRow[]> {
  return reader.find(
    payments,
    `WHERE network = $1 AND status = 'confirming' AND confirms_at_height <= $2
      AND (confirms_at_height > $3 OR (confirms_at_height = $3 AND id > $4))
     ORDER BY confirms_at_height, id LIMIT $5`,
    [network, tipHeight, after.height, after.id, limit],
  );
}

/** Returns the given payments that are still confirming. */
export async function confirmingAmong(
  reader: Reader,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await reader.all<{ id: string }>(
    `SELECT id FROM payments WHERE status = 'confirming' AND id IN ${listed(reader.dialect, 1)}`,
    [JSON.stringify(ids)],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Finds a payment of an organization. */
export function findPayment(
  reader: Reader,
  organizationId: Id<"organization">,
  paymentId: Id<"payment">,
): Promise<PaymentRow | null> {
  return reader.findOne(payments, "WHERE organization_id = $1 AND id = $2", [
    organizationId,
    paymentId,
  ]);
}

/** Returns all payments of an invoice, oldest first. */
export function paymentsOfInvoice(reader: Reader, invoiceId: Id<"invoice">): Promise<PaymentRow[]> {
  return reader.find(payments, "WHERE invoice_id = $1 ORDER BY id", [invoiceId]);
}
