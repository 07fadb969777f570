import type { Instant } from "../../../kernel/clock.ts";
import { Defect } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import { parsePercent } from "../../../kernel/money/percent.ts";
import type { Ratio } from "../../../kernel/money/ratio.ts";
import { parseAnyTransactionHash } from "../../../platform/chain/kinds.ts";
import { dueAmount, type PaymentTotals, type Terms } from "../rules.ts";
import type { InvoiceRow } from "../store.ts";

/** The terms of an issued invoice that decide about its payments. */
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
  /** `amount` in the token's smallest unit, including the surcharge. */
  readonly payableAmount: bigint;
  /** The most that the payer was asked for in total, in the token's smallest unit. */
  readonly askedAmount: bigint;
  /** The minimum that pays the invoice, in the token's smallest unit. */
  readonly dueAmount: bigint;
  /** The sum of its payments as of the last settlement, in the token's smallest unit. */
  readonly seenAmount: bigint;
  /** The amount that identifies a payment of the missing part; 0 if nothing is missing. */
  readonly remainingAmount: bigint;
  readonly requiredConfirmations: number;
  readonly issuedAt: Instant;
  readonly expiresAt: Instant;
  readonly isCanceled: boolean;
  /** Payments of a managed invoice always count: the feature that manages it decides what to do with them. */
  readonly managedBy: "billing" | null;
  /** The treatment of payments that arrive after `expiresAt`. */
  readonly latePolicy: "accept" | "review";
}

/** The terms of an invoice that the transaction has locked, with its row. */
export interface LockedTerms extends PayableTerms {
  readonly invoice: InvoiceRow;
}

/** Returns null for a draft. */
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
  if (tolerance === null) throw new Defect(`${row.id} has a tolerance that is not a percentage`);
  return tolerance;
}

/** Returns the terms that decide the invoice's status. */
export function statusTerms(row: InvoiceRow): Terms {
  return { status: row.status, issued: payableTerms(row), canceledAt: row.canceledAt };
}

/** Returns the payment totals as the invoice last stored them. */
export function storedTotals(row: InvoiceRow): PaymentTotals {
  return {
    seen: row.seenAmount,
    confirmed: row.confirmedAmount,
    isLate: row.isLate,
    isReverted: row.isReverted,
    latestBlock: row.latestBlock,
    completedAt: row.completedAt,
    transactionHashes: row.transactionHashes.map((hash) => {
      const canonical = parseAnyTransactionHash(hash);
      if (canonical === null) throw new Defect(`${row.id} has an invalid transaction hash`);
      return canonical;
    }),
  };
}
