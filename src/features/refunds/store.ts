import type { Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import type { PageRequest } from "../../kernel/page.ts";
import type { Reader, Tx } from "../../platform/database/database.ts";
import { listed } from "../../platform/database/query/json-rows.ts";
import { pageQuery } from "../../platform/database/query/lists.ts";
import {
  amount,
  integer,
  table,
  text,
  time,
  type RowOf,
} from "../../platform/database/schema/table.ts";
import type { MatchRule } from "../payments/payment-status.ts";
import type { RefundRefusal, RefundSource, RefundStatus } from "./status.ts";
import { rejectedRequestsMax } from "./rules.ts";

/** Refunds of payments' surplus, which merchants pay from their own wallets. */
export const refunds = table(
  "refunds",
  {
    id: text<Id<"refund">>(),
    organizationId: text<Id<"organization">>(),
    invoiceId: text<Id<"invoice">>(),
    paymentId: text<Id<"payment">>(),
    source: text<RefundSource>(),
    status: text<RefundStatus>(),
    network: text(),
    token: text(),
    tokenDecimals: integer(),
    /** In the token's smallest unit. */
    amount: amount(),
    /** The recipient, in canonical form. */
    address: text(),
    // Copied from the payment's transfer, so that the record shows whom the money came from.
    fromAddress: text(),
    paymentHash: text(),
    /** Why the payment was assigned to the invoice. */
    paymentRule: text<MatchRule>(),
    /** The block of the payment. A transaction in an earlier block cannot be its refund. */
    paymentHeight: integer(),
    /** The transaction that pays it, while it is sent or confirmed: 64 lower-case hex digits. */
    transactionHash: text().nullable(),
    /** The block in which the transaction was last found. */
    blockHeight: integer().nullable(),
    blockHash: text().nullable(),
    refusal: text<RefundRefusal>().nullable(),
    /** The transaction that was refused last. */
    refusedHash: text().nullable(),
    /** The merchant's reason for rejecting it. */
    reason: text().nullable(),
    /** While it is sent: the number of examinations in a row in which no provider had a receipt. */
    attempts: integer(),
    /** The number of them in which every provider answered. */
    denials: integer(),
    /** The number of examinations in which one provider alone had the transaction in the stored final block. */
    heldAttempts: integer(),
    /** While it is sent: the time of the next attempt to prove it. */
    nextAt: time(),
    version: integer(),
    createdAt: time(),
    updatedAt: time(),
    sentAt: time().nullable(),
    confirmedAt: time().nullable(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      { name: "refunds_organization", columns: ["organizationId", "id"] },
      { name: "refunds_status", columns: ["organizationId", "status", "id"] },
      { name: "refunds_invoice", columns: ["invoiceId", "id"] },
      { name: "refunds_payment", columns: ["paymentId", "id"] },
      {
        name: "refunds_open",
        columns: ["paymentId"],
        unique: true,
        where: "status IN ('requested', 'sent')",
      },
      {
        name: "refunds_hash",
        columns: ["organizationId", "network", "transactionHash"],
        unique: true,
        where: "transaction_hash IS NOT NULL",
      },
      { name: "refunds_due", columns: ["network", "nextAt", "id"], where: "status = 'sent'" },
      {
        name: "refunds_confirmed",
        columns: ["network", "blockHeight", "id"],
        where: "status = 'confirmed'",
      },
    ],
  },
);

export type RefundRow = RowOf<typeof refunds>;

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
