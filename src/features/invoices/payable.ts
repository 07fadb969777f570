import type { Instant } from "../../kernel/clock.ts";
import { Defect } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { parsePercent } from "../../kernel/percent.ts";
import type { Ratio } from "../../kernel/ratio.ts";
import { parseTransactionHash } from "../../platform/chain/transaction-hash.ts";
import { dueAmount, type PaymentTotals, type Terms } from "./rules.ts";
import type { InvoiceRow } from "./store.ts";

/** What an issued invoice asks for, as far as its payments go. */
export interface PayableTerms {
  readonly organizationId: Id<"organization">;
  readonly walletId: Id<"wallet"> | null;
  readonly customerId: Id<"customer"> | null;
  /** In the smallest unit of the settlement currency. */
  readonly amount: bigint;
  readonly settlementCurrency: string;
  readonly settlementDecimals: number;
  readonly network: string;
  readonly tokenSymbol: string;
  readonly tokenDecimals: number;
  /** What `amount` is in the token's smallest unit, surcharge included. */
  readonly payableAmount: bigint;
  /** The most that the payer was asked for in total, in the token's smallest unit. */
  readonly askedAmount: bigint;
  /** From which on the invoice is whole. */
  readonly dueAmount: bigint;
  /** The sum of its payments when it was last settled, in the token's smallest unit. */
  readonly seenAmount: bigint;
  /** The amount that tells the missing part from other invoices; 0 where nothing is missing. */
  readonly remainingAmount: bigint;
  readonly requiredConfirmations: number;
  readonly issuedAt: Instant;
  readonly expiresAt: Instant;
  readonly isCanceled: boolean;
  /** Money for a managed invoice always counts: who manages it decides what becomes of it. */
  readonly managedBy: "billing" | null;
  /** What becomes of money that comes after `expiresAt`. */
  readonly latePolicy: "accept" | "review";
}

/** Null for a draft. */
export function payableTerms(row: InvoiceRow): PayableTerms | null {
  const { payableAmount, issuedAt, expiresAt } = row;
  if (payableAmount === null || issuedAt === null || expiresAt === null) return null;
  return {
    organizationId: row.organizationId,
    walletId: row.walletId,
    customerId: row.customerId,
    amount: row.amount,
    settlementCurrency: row.settlementCurrency,
    settlementDecimals: row.settlementDecimals,
    network: row.network,
    tokenSymbol: row.tokenSymbol,
    tokenDecimals: row.tokenDecimals,
    payableAmount,
    askedAmount: row.askedAmount ?? payableAmount,
    dueAmount: dueAmount(payableAmount, toleranceOf(row)),
    seenAmount: row.seenAmount,
    remainingAmount: row.remainingAmount ?? 0n,
    requiredConfirmations: row.requiredConfirmations,
    issuedAt,
    expiresAt,
    isCanceled: row.canceledAt !== null,
    managedBy: row.managedBy,
    latePolicy: "accept",
  };
}

function toleranceOf(row: InvoiceRow): Ratio {
  const tolerance = parsePercent(row.underpaymentTolerance);
  if (tolerance === null) throw new Defect(`${row.id} has a tolerance that is no percentage`);
  return tolerance;
}

/** The same as its status depends on it. */
export function statusTerms(row: InvoiceRow): Terms {
  return { status: row.status, issued: payableTerms(row), canceledAt: row.canceledAt };
}

/** The totals that its payments last told. */
export function storedTotals(row: InvoiceRow): PaymentTotals {
  return {
    seen: row.seenAmount,
    confirmed: row.confirmedAmount,
    isLate: row.isLate,
    isReverted: row.isReverted,
    latestBlock: row.latestBlock,
    completedAt: row.completedAt,
    transactionHashes: row.transactionHashes.map((hash) => {
      const canonical = parseTransactionHash(hash);
      if (canonical === null) throw new Defect(`${row.id} has a transaction hash that is none`);
      return canonical;
    }),
  };
}
