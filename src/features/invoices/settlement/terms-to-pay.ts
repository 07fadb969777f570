import type { Instant } from "../../../kernel/clock.ts";
import { Defect } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Ratio } from "../../../kernel/money/ratio.ts";
import { parseAnyTransactionHash } from "../../../platform/chain/kinds.ts";
import { toleranceOf } from "../options/in-force.ts";
import {
  dueOf,
  excessSlackOf,
  quotesOf,
  roundingOf,
  settlementOf,
  type Quote,
  type SettlementColumn,
} from "../options/quotes.ts";
import { readAside } from "./aside.ts";
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
  /** The options that have holds, at least one. A payment counts at the rate of the one with its network and token. */
  readonly quotes: readonly Quote[];
  /** The option in force. */
  readonly network: string;
  readonly tokenSymbol: string;
  /** `amount` in the smallest unit of the token in force, including the surcharge; so are the following amounts. */
  readonly payableAmount: bigint;
  /** The most that the payer was asked for in total, in the token's smallest unit. */
  readonly askedAmount: bigint;
  /** The largest excess above `askedAmount` that is not an overpayment: `excessSlackOf`. */
  readonly excessSlack: bigint;
  /** The minimum that pays the invoice, in the token's smallest unit. */
  readonly dueAmount: bigint;
  /** The minimum that pays all of it: less is missing than anybody can be asked for. */
  readonly wholeAmount: bigint;
  /** The underpayment that is accepted, as a fraction of 1. */
  readonly tolerance: Ratio;
  /** The part that nobody can be asked for, as a fraction of 1: `roundingOf`. */
  readonly rounding: Ratio;
  /** The sum of its payments as of the last settlement, in the token's smallest unit. */
  readonly seenAmount: bigint;
  /** The amount that identifies a payment of the missing part; 0 if nothing is missing. */
  readonly remainingAmount: bigint;
  readonly issuedAt: Instant;
  readonly expiresAt: Instant;
  /** The end of the late window. */
  readonly lateUntil: Instant;
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
  const { payableAmount, issuedAt, expiresAt, lateUntil } = row;
  if (payableAmount === null || issuedAt === null) return null;
  if (expiresAt === null || lateUntil === null) return null;
  const tolerance = toleranceOf(row);
  const quotes = quotesOf(row);
  const rounding = roundingOf(quotes);
  return {
    organizationId: row.organizationId,
    walletId: row.walletId,
    customerId: row.customerId,
    amount: row.amount,
    settlementCurrency: row.settlementCurrency,
    settlementDecimals: row.settlementDecimals,
    quotes,
    network: row.network,
    tokenSymbol: row.tokenSymbol,
    payableAmount,
    askedAmount: row.askedAmount ?? payableAmount,
    excessSlack: excessSlackOf(row),
    dueAmount: dueOf({ payableAmount, tolerance, rounding }),
    wholeAmount: dueAmount(payableAmount, rounding),
    tolerance,
    rounding,
    seenAmount: row.seenAmount,
    remainingAmount: row.remainingAmount ?? 0n,
    issuedAt,
    expiresAt,
    lateUntil,
    isCanceled: row.canceledAt !== null,
    managedBy: row.managedBy,
    latePolicy: "accept",
  };
}

/** Returns the terms that decide the invoice's status. */
export function statusTerms(row: InvoiceRow): Terms {
  return { status: row.status, issued: payableTerms(row), canceledAt: row.canceledAt };
}

/** Returns the payment totals as the invoice last stored them. */
export function storedTotals(row: InvoiceRow): PaymentTotals {
  const quotes = quotesOf(row);
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
    aside: readAside(row.aside),
    ...(quotes.length > 1 && {
      several: {
        paidAmount: paidAmountOf(row),
        quotes: quotes.map(({ network, tokenSymbol, seen, confirmed, latestBlock }) => ({
          network,
          tokenSymbol,
          seen,
          confirmed,
          latestBlock,
        })),
      },
    }),
  };
}

/** Returns the worth of an invoice's counted payments, in the smallest unit of the settlement currency. */
export function paidAmountOf(
  row: Pick<InvoiceRow, "paidAmount" | "seenAmount" | SettlementColumn>,
): bigint {
  return row.paidAmount ?? settlementOf(row.seenAmount, row);
}
