import type { Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import type { PageRequest } from "../../kernel/page.ts";
import type { Reader, Tx } from "../../platform/database/database.ts";
import { listed } from "../../platform/database/query/json-rows.ts";
import { pageQuery } from "../../platform/database/query/lists.ts";
import type { RefundStatus } from "./status.ts";
import { refunds, type RefundRow } from "./table.ts";
import { rejectedRequestsMax } from "./rules.ts";

export interface RefundFilters {
  readonly status?: RefundStatus | undefined;
  readonly invoiceId?: Id<"invoice"> | undefined;
  readonly paymentId?: Id<"payment"> | undefined;
}

/** Returns a refund; null if it does not exist or belongs to another organization. */
export function findRefund(
  reader: Reader,
  organizationId: Id<"organization">,
  refundId: Id<"refund">,
): Promise<RefundRow | null> {
  return reader.findOne(refunds, "WHERE organization_id = $1 AND id = $2", [
    organizationId,
    refundId,
  ]);
}

/** Returns a refund of any organization. */
export function refundById(reader: Reader, refundId: Id<"refund">): Promise<RefundRow | null> {
  return reader.findOne(refunds, "WHERE id = $1", [refundId]);
}

export function lockRefund(tx: Tx, refundId: Id<"refund">): Promise<RefundRow | null> {
  return tx.lockOne(refunds, "WHERE id = $1", [refundId]);
}

/** Returns those of the given refunds that are sent. */
export async function sentAmong(
  reader: Reader,
  refundIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await reader.find(
    refunds,
    `WHERE status = 'sent' AND id IN ${listed(reader.dialect, 1)}`,
    [JSON.stringify(refundIds)],
  );
  return new Set(rows.map(({ id }) => id));
}

/** The same for the refunds of a payment whose public hash somebody submitted, whoever asked for them. */
const rejectedOfSubmittedMax = 1;

/**
 * Returns SQL for the payments, among the refunds that fit a condition, whose next refund only the merchant may create,
 * because the merchant has rejected refunds of them. Till's own rejections do not count.
 */
export function leftPaymentsSql(condition: string): string {
  return `SELECT payment_id FROM refunds
    WHERE ${condition} AND status = 'rejected' AND reason IS NOT NULL
      AND (source = 'payer' OR payment_rule = 'submitted_hash')
    GROUP BY payment_id, payment_rule
    HAVING count(*) >= CASE payment_rule WHEN 'submitted_hash' THEN ${String(rejectedOfSubmittedMax)}
      ELSE ${String(rejectedRequestsMax)} END`;
}

/** Whether only the merchant may create the next refund of a payment. */
export async function isLeftToMerchant(reader: Reader, paymentId: Id<"payment">): Promise<boolean> {
  return (await reader.all(leftPaymentsSql("payment_id = $1"), [paymentId])).length > 0;
}

/** Returns a page of an organization's refunds, newest first. */
export function findRefunds(
  reader: Reader,
  organizationId: Id<"organization">,
  { status, invoiceId, paymentId }: RefundFilters,
  page: PageRequest,
): Promise<RefundRow[]> {
  const { rest, values } = pageQuery(page, [
    ["organization_id =", organizationId],
    ["status =", status],
    ["invoice_id =", invoiceId],
    ["payment_id =", paymentId],
  ]);
  return reader.find(refunds, rest, values);
}

const openOfPayment = "WHERE payment_id = $1 AND status IN ('requested', 'sent')";

/** Locks and returns the refund of a payment that is requested or sent; null if none is. */
export function lockOpenRefund(tx: Tx, paymentId: Id<"payment">): Promise<RefundRow | null> {
  return tx.lockOne(refunds, openOfPayment, [paymentId]);
}

/** Whether a payment has an open refund, without a lock, which only the holder of the payment's lock may take. */
export async function hasOpenRefund(reader: Reader, paymentId: Id<"payment">): Promise<boolean> {
  return (await reader.findOne(refunds, openOfPayment, [paymentId])) !== null;
}

/** Locks and returns the requested refunds of payments, in the order of their ids. */
export function lockRequested(tx: Tx, paymentIds: readonly Id<"payment">[]): Promise<RefundRow[]> {
  return tx.lock(
    refunds,
    `WHERE payment_id IN ${listed(tx.dialect, 1)} AND status = 'requested' ORDER BY id`,
    [JSON.stringify(paymentIds)],
  );
}

/** Returns the organization's refund that a transaction pays; null if it pays none. */
export function refundOfTransaction(
  reader: Reader,
  { organizationId, network }: Pick<RefundRow, "organizationId" | "network">,
  transactionHash: string,
): Promise<RefundRow | null> {
  return reader.findOne(
    refunds,
    "WHERE organization_id = $1 AND network = $2 AND transaction_hash = $3",
    [organizationId, network, transactionHash],
  );
}

export async function insertRefund(tx: Tx, row: RefundRow): Promise<void> {
  await tx.insert(refunds, row);
}

/** Stores the changeable columns of a refund. */
export async function saveRefund(tx: Tx, row: RefundRow): Promise<void> {
  const { status, transactionHash, blockHeight, blockHash, refusal, refusedHash, reason } = row;
  const { attempts, denials, heldAttempts, nextAt, version, updatedAt, sentAt, confirmedAt } = row;
  await tx.update(
    refunds,
    {
      status,
      transactionHash,
      blockHeight,
      blockHash,
      refusal,
      refusedHash,
      reason,
      attempts,
      denials,
      heldAttempts,
      nextAt,
      version,
      updatedAt,
      sentAt,
      confirmedAt,
    },
    "WHERE id = $1",
    [row.id],
  );
}

/**
 * Returns the refunds of a network to examine, longest due first: those that were sent, and those that were confirmed
 * in blocks that are no longer final.
 */
export function dueRefunds(
  reader: Reader,
  network: string,
  at: Instant,
  cursorHeight: number,
  limit: number,
): Promise<RefundRow[]> {
  return reader.find(
    refunds,
    `WHERE network = $1 AND ((status = 'sent' AND next_at <= $2) OR (status = 'confirmed' AND block_height > $3))
     ORDER BY next_at, id LIMIT $4`,
    [network, at, cursorHeight, limit],
  );
}
