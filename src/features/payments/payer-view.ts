import type { Instant } from "../../kernel/clock.ts";
import type { Dialect } from "../../platform/database/index.ts";
import { jsonArray, jsonRows } from "../../platform/database/query/json-rows.ts";
import {
  refusalResults,
  type ClaimReason,
  type ClaimResult,
  type ClaimState,
} from "./hash-claims/status.ts";
import { isCounted } from "./ledger/payment-rules.ts";
import type { PaymentStatus } from "./payment-status.ts";

/** A payment of an invoice, as far as its payer may know it. */
export interface PayerPayment {
  /** 64 lower-case hex digits, without prefix. */
  readonly transactionHash: string;
  /** A payment in `review` counts only once the merchant accepts it. */
  readonly status: PaymentStatus;
  /** While it is reverted, whether it counts or is in review again if it returns to the chain. */
  readonly isExpectedBack: boolean;
  /** The block that includes it; while it is reverted, the one that did. */
  readonly blockHeight: number;
  readonly blockTime: Instant;
}

/** A transaction that a payer submitted. */
export interface SubmittedTransaction {
  /** 64 lower-case hex digits. */
  readonly transactionHash: string;
  readonly result: ClaimResult;
}

/** The payments of an invoice, as far as its payer may know them. */
export interface PayerLedger {
  /** Oldest first. */
  readonly payments: readonly PayerPayment[];
  /** The latest transactions that payers submitted, newest first. */
  readonly submitted: readonly SubmittedTransaction[];
}

/** The number of submitted transactions that a payer sees. */
const submittedMax = 10;

function submittedSql(invoiceId: string): string {
  return `(SELECT * FROM payment_claims WHERE invoice_id = ${invoiceId}
    ORDER BY created_at DESC, id DESC LIMIT ${String(submittedMax)}) AS submitted`;
}

/**
 * Returns SQL for a text that changes with everything that the ledger shows. `invoiceId` is a column of the statement.
 */
export function ledgerVersionSql(dialect: Dialect, invoiceId: string): string {
  return arraysSql(dialect, invoiceId, "id, version", "id, state, reason");
}

type StoredPayment = [string, PaymentStatus, string | null, number, Instant];
type StoredClaim = [string, ClaimState, ClaimReason | null];

/** Returns SQL for an invoice's ledger as a text that `readLedger` reads. */
export function ledgerSql(dialect: Dialect, invoiceId: string): string {
  const payment = "transaction_hash, status, status_when_back, block_height, block_time";
  return arraysSql(dialect, invoiceId, payment, "transaction_hash, state, reason");
}

/** Returns SQL for a text with columns of an invoice's payments, and of the transactions that payers submitted. */
function arraysSql(dialect: Dialect, invoiceId: string, payment: string, claim: string): string {
  const paid = jsonRows(dialect, {
    ...{ each: jsonArray(dialect, payment), order: "id" },
    source: `payments WHERE invoice_id = ${invoiceId}`,
  });
  const submitted = jsonRows(dialect, {
    ...{ each: jsonArray(dialect, claim), order: "created_at DESC, id DESC" },
    source: submittedSql(invoiceId),
  });
  return `CAST(${jsonArray(dialect, `${paid}, ${submitted}`)} AS text)`;
}

/** Reads the text that `ledgerSql` selects. */
export function readLedger(stored: string): PayerLedger {
  const [storedPayments, storedClaims] = JSON.parse(stored) as [StoredPayment[], StoredClaim[]];
  const payments = storedPayments.map(
    ([transactionHash, status, statusWhenBack, blockHeight, blockTime]): PayerPayment => ({
      transactionHash,
      status,
      isExpectedBack: statusWhenBack !== null,
      blockHeight,
      blockTime,
    }),
  );
  const submitted = storedClaims.map(([transactionHash, state, reason]) => {
    const own = payments.filter((payment) => payment.transactionHash === transactionHash);
    return { transactionHash, result: resultOf(state, reason, own) };
  });
  return { payments, submitted };
}

/** `found` holds the invoice's payments by the transaction, whose status may have changed since the claim was closed. */
function resultOf(
  state: ClaimState,
  reason: ClaimReason | null,
  found: readonly PayerPayment[],
): ClaimResult {
  switch (state) {
    case "waiting":
      return reason === "unknown" ? "unknown" : "looking";
    case "credited":
    case "review":
      if (found.some(isCounted)) return "counted";
      if (found.some(({ status }) => status === "review")) return "in_review";
      return found.some(({ status }) => status === "reverted") ? "reverted" : "not_for_this";
    case "refused":
      return reason === null ? "not_for_this" : refusalResults[reason];
  }
}
