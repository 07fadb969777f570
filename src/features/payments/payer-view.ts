import type { Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import { decodeAmount } from "../../platform/database/schema/table.ts";
import type { Dialect } from "../../platform/database/database.ts";
import { jsonArray, jsonRows } from "../../platform/database/query/json-rows.ts";
import { type ClaimReason, type ClaimResult, type ClaimState } from "./hash-claims/status.ts";
import { resultOf } from "./hash-claims/rules.ts";
import type { PayerSurplusPayment } from "./ledger/surplus.ts";
import type { MatchRule, PaymentStatus } from "./payment-status.ts";
import type { PaymentRow } from "./table.ts";

/** A payment of an invoice, as far as its payer may know it. */
export interface PayerPayment extends PayerSurplusPayment {
  /** 64 lower-case hex digits, without prefix. */
  readonly transactionHash: string;
  readonly token: string;
  readonly tokenDecimals: number;
  /** A payment in `review` counts only once the merchant accepts it. */
  readonly status: PaymentStatus;
  /** Whether it came to the invoice's own address, was rejected or reversed, and another invoice has a part of its transfer. */
  readonly isMoved: boolean;
  /** While it is reverted, whether it counts or is in review again if it returns to the chain. */
  readonly isExpectedBack: boolean;
  /** The block that includes it; while it is reverted, the one that did. */
  readonly blockHeight: number;
  readonly blockTime: Instant;
}

/** A transaction that a payer submitted. */
export interface SubmittedTransaction {
  /** The id of the network on which it was looked for last. */
  readonly network: string;
  /** 64 lower-case hex digits. */
  readonly transactionHash: string;
  readonly result: ClaimResult;
}

/** The payments of an invoice, as far as its payer may know them. */
export interface PayerLedger {
  /** Oldest first. */
  readonly payments: readonly PayerPayment[];
  /**
   * Transactions that payers submitted: first those that are looked for or wait for the merchant, then the latest others;
   * the newest first in both.
   */
  readonly submitted: readonly SubmittedTransaction[];
}

/** The number of submitted transactions that a payer sees. */
const submittedMax = 10;

/** SQL for 1 if a claim is open: it waits, or the merchant decides about its payment; else 0. */
const isOpenClaimSql = `CASE WHEN state = 'waiting' OR (state = 'review' AND EXISTS (
      SELECT 1 FROM payments WHERE payments.invoice_id = payment_claims.invoice_id
        AND payments.transaction_hash = payment_claims.transaction_hash AND payments.status = 'review'))
    THEN 1 ELSE 0 END`;

/** Made-up hashes that others submit at the checkout must not hide the payer's own one. */
const submittedOrder = "is_open DESC, created_at DESC, id DESC";

function submittedSql(invoiceId: string): string {
  return `(SELECT payment_claims.*, ${isOpenClaimSql} AS is_open FROM payment_claims
    WHERE invoice_id = ${invoiceId} ORDER BY ${submittedOrder} LIMIT ${String(submittedMax)}) AS submitted`;
}

/**
 * Returns SQL for a text that changes with everything that the ledger shows. `invoiceId` is a column of the statement.
 */
export function ledgerVersionSql(dialect: Dialect, invoiceId: string): string {
  const payment = `id, version, refund_requested, refunded, ${elsewhereSql}`;
  return arraysSql(dialect, invoiceId, payment, "id, network, state, reason");
}

/** SQL for whether the payment `other` counts, or would count again if its transfer came back. */
const isTakingSql = `(other.status IN ('confirming', 'confirmed') OR other.status_when_back = 'confirming')`;

/**
 * SQL for 1 if a payment's transfer is verified in a final block and no other payment counts for a part of it, would
 * count again, or was refunded; for 2 if it was rejected, came to the invoice's own address, and another invoice of the
 * merchant has a part of its transfer; else 0. A payment that was assigned in any other way may be somebody else's:
 * nothing is said of it.
 */
const elsewhereSql = `CASE WHEN EXISTS (SELECT 1 FROM transfers
      WHERE transfers.id = payments.transfer_id AND transfers.is_final = 1
        AND transfers.verification = 'verified' AND transfers.status = 'seen')
    AND NOT EXISTS (SELECT 1 FROM payments AS other
      WHERE other.transfer_id = payments.transfer_id AND other.id <> payments.id
        AND (${isTakingSql} OR other.refunded > '${"0".repeat(78)}'))
    THEN 1
    WHEN status = 'rejected' AND rule = 'exclusive_address'
    AND EXISTS (SELECT 1 FROM payments AS other
      WHERE other.transfer_id = payments.transfer_id AND other.invoice_id <> payments.invoice_id
        AND other.organization_id = payments.organization_id AND ${isTakingSql})
    THEN 2 ELSE 0 END`;

type StoredPayment = [
  ...[Id<"payment">, string, string, PaymentStatus, PaymentRow["statusWhenBack"], MatchRule],
  ...[string, number, string, string, string, number, Instant, 0 | 1 | 2],
];
type StoredClaim = [string, string, ClaimState, ClaimReason | null];

/** Returns SQL for an invoice's ledger as a text that `readLedger` reads. */
export function ledgerSql(dialect: Dialect, invoiceId: string): string {
  const payment = `id, network, transaction_hash, status, status_when_back, rule,
    token, token_decimals, amount, refund_requested, refunded, block_height, block_time,
    ${elsewhereSql}`;
  return arraysSql(dialect, invoiceId, payment, "network, transaction_hash, state, reason");
}

/** Returns SQL for a text with columns of an invoice's payments, and of the transactions that payers submitted. */
function arraysSql(dialect: Dialect, invoiceId: string, payment: string, claim: string): string {
  const paid = jsonRows(dialect, {
    each: jsonArray(dialect, payment),
    order: "id",
    source: `payments WHERE invoice_id = ${invoiceId}`,
  });
  const submitted = jsonRows(dialect, {
    each: jsonArray(dialect, claim),
    order: submittedOrder,
    source: submittedSql(invoiceId),
  });
  return `CAST(${jsonArray(dialect, `${paid}, ${submitted}`)} AS text)`;
}

/** Reads the text that `ledgerSql` selects. */
export function readLedger(stored: string): PayerLedger {
  const [storedPayments, storedClaims] = JSON.parse(stored) as [StoredPayment[], StoredClaim[]];
  const payments = storedPayments.map<PayerPayment>(
    ([
      id,
      network,
      hash,
      status,
      whenBack,
      rule,
      token,
      tokenDecimals,
      amount,
      requested,
      refunded,
      height,
      time,
      elsewhere,
    ]) => ({
      id,
      network,
      transactionHash: hash,
      status,
      statusWhenBack: whenBack,
      rule,
      token,
      tokenDecimals,
      isExpectedBack: whenBack !== null,
      amount: decodeAmount(amount),
      refundRequested: decodeAmount(requested),
      refunded: decodeAmount(refunded),
      blockHeight: height,
      blockTime: time,
      isSpare: elsewhere === 1,
      isMoved: elsewhere === 2,
    }),
  );
  const submitted = storedClaims.map(([network, transactionHash, state, reason]) => {
    const own = payments.filter((payment) => payment.transactionHash === transactionHash);
    return { network, transactionHash, result: resultOf(state, reason, own) };
  });
  return { payments, submitted };
}
