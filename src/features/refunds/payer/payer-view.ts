import type { Id } from "../../../kernel/id.ts";
import type { Address } from "../../../platform/chain/client.ts";
import { decodeAmount } from "../../../platform/database/schema/table.ts";
import type { Dialect } from "../../../platform/database/database.ts";
import { jsonArray, jsonRows } from "../../../platform/database/query/json-rows.ts";
import type { RefundRefusal, RefundStatus } from "../status.ts";
import { leftPaymentsSql } from "../store.ts";

/** A refund of an invoice's payment as its payer's page knows it. */
export interface PayerRefund {
  readonly id: Id<"refund">;
  readonly paymentId: Id<"payment">;
  readonly status: RefundStatus;
  readonly network: string;
  readonly token: string;
  readonly tokenDecimals: number;
  readonly amount: bigint;
  /** In canonical form; shown shortened, because the page is not only the payer's. */
  readonly address: Address;
  readonly transactionHash: string | null;
  readonly refusal: RefundRefusal | null;
  readonly reason: string | null;
}

/** The number of refunds that a payer sees, the newest. */
const shownMax = 10;

function newestSql(invoiceId: string): string {
  return `(SELECT * FROM refunds WHERE invoice_id = ${invoiceId}
    ORDER BY id DESC LIMIT ${String(shownMax)}) AS shown`;
}

function arraySql(dialect: Dialect, invoiceId: string, fields: string): string {
  const each = jsonArray(dialect, fields);
  const rows = jsonRows(dialect, { each, order: "id DESC", source: newestSql(invoiceId) });
  return `CAST(${rows} AS text)`;
}

/** Returns SQL for a text that changes with the refunds of an invoice. `invoiceId` is a column of the statement. */
export function refundsVersionSql(dialect: Dialect, invoiceId: string): string {
  return arraySql(dialect, invoiceId, "id, version");
}

/** Returns SQL for an invoice's refunds as a text that `readRefunds` reads. */
export function refundsSql(dialect: Dialect, invoiceId: string): string {
  const fields = `id, payment_id, status, network, token, token_decimals, amount, address,
    transaction_hash, refusal, reason`;
  return arraySql(dialect, invoiceId, fields);
}

type StoredRefund = [
  ...[Id<"refund">, Id<"payment">, RefundStatus, string, string, number, string, Address],
  ...[string | null, RefundRefusal | null, string | null],
];

/** Reads the text that `refundsSql` selects, newest first. */
export function readRefunds(stored: string): readonly PayerRefund[] {
  return (JSON.parse(stored) as StoredRefund[]).map(
    ([
      id,
      paymentId,
      status,
      network,
      token,
      tokenDecimals,
      amount,
      address,
      hash,
      refusal,
      reason,
    ]) => ({
      id,
      paymentId,
      status,
      network,
      token,
      tokenDecimals,
      amount: decodeAmount(amount),
      address,
      transactionHash: hash,
      refusal,
      reason,
    }),
  );
}

/** Returns SQL for the invoice's payments whose next refund only the merchant may create, for `readLeftToMerchant`. */
export function leftToMerchantSql(dialect: Dialect, invoiceId: string): string {
  const source = `(${leftPaymentsSql(`invoice_id = ${invoiceId}`)}) AS left_payments`;
  return `CAST(${jsonRows(dialect, { each: "payment_id", order: "payment_id", source })} AS text)`;
}

export function readLeftToMerchant(stored: string): ReadonlySet<Id<"payment">> {
  return new Set(JSON.parse(stored) as Id<"payment">[]);
}
