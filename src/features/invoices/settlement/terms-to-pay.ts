import type { Instant } from "../../../kernel/clock.ts";
import { Defect } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import { parsePercent, type Ratio } from "../../../kernel/money/ratio.ts";
import { parseAnyTransactionHash } from "../../../platform/chain/kinds.ts";
import { isSameOption } from "../../organizations/checkout-policy.ts";
import {
  dueOf,
  excessSlackOf,
  paidShare,
  quotesOf,
  roundedShare,
  roundingOf,
  settlementOf,
  storedOptions,
  tokensOf,
  worthOf,
  type Quote,
  type SettlementColumn,
  type Share,
} from "../options/quotes.ts";
import { readAside } from "./owed.ts";
import { dueAmount, type PaymentTotals, type Terms } from "../rules.ts";
import type { InForce, InvoiceRow } from "../store.ts";

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

function toleranceOf(row: Pick<InvoiceRow, "id" | "underpaymentTolerance">): Ratio {
  const tolerance = parsePercent(row.underpaymentTolerance);
  if (tolerance === null) throw new Defect(`${row.id} has a tolerance that is not a percentage`);
  return tolerance;
}

/** Returns a share of an invoice in the token of one of its quotes. */
function tokensAt(
  row: InvoiceRow,
  quotes: readonly Quote[],
  share: Share,
  { payableAmount }: Quote,
): bigint {
  const rounding = roundingOf(quotes);
  return tokensOf(share, { payableAmount, tolerance: toleranceOf(row), rounding });
}

/**
 * Returns the invoice with another option in force, so that its columns describe that one. The amount that remains is 0
 * if it must be held first.
 */
export function putInForce(row: InvoiceRow, quote: Quote): InvoiceRow {
  const known = quotesOf(row);
  const quotes = known.some((each) => isSameOption(each, quote)) ? known : [...known, quote];
  const share = paidShare(quotes);
  const seenAmount = tokensAt(row, quotes, share, quote);
  const inForce: InForce = {
    paidAmount: worthOf(roundedShare(share, roundingOf(quotes)), row.amount),
    paymentOptions: storedOptions(row, quotes),
    network: quote.network,
    tokenSymbol: quote.tokenSymbol,
    tokenDecimals: quote.tokenDecimals,
    requiredConfirmations: quote.requiredConfirmations,
    exchangeRate: quote.exchangeRate,
    dustAmount: quote.dustAmount,
    walletId: quote.walletId,
    walletAddress: quote.walletAddress,
    addressIndex: quote.addressIndex,
    payableAmount: quote.payableAmount,
    askedAmount: askedIn(row, quote),
    remainingAmount: remainingIn(quote, seenAmount),
    seenAmount,
    confirmedAmount: tokensAt(
      row,
      quotes,
      paidShare(quotes, ({ confirmed }) => confirmed),
      quote,
    ),
    latestBlock: latestBlockOn(quote.network, quotes),
  };
  return { ...row, ...inForce };
}

function remainingIn({ payableAmount, remainingAmount, remainingAfter }: Quote, seen: bigint) {
  if (seen === 0n) return payableAmount;
  return remainingAfter === seen ? remainingAmount : 0n;
}

/** Converts the most that the payer was asked for, rounded down: it does not grow with every change of the option. */
function askedIn(row: InvoiceRow, { payableAmount, askedAmount }: Quote): bigint | null {
  const before = askedUntilNow(row);
  const converted =
    before === null || row.payableAmount === null
      ? 0n
      : (before * payableAmount) / row.payableAmount;
  const most = converted > (askedAmount ?? 0n) ? converted : askedAmount;
  return most !== null && most > payableAmount ? most : null;
}

/**
 * Returns the invoice's `askedAmount` as of its next change. It never decreases: if a reorganization removes a part
 * that then returns, the payer is still measured by the most that was requested.
 */
export function askedUntilNow({
  payableAmount,
  askedAmount,
  remainingAmount,
  seenAmount,
}: InvoiceRow): bigint | null {
  if (payableAmount === null || remainingAmount === null || remainingAmount === 0n) {
    return askedAmount;
  }
  const total = seenAmount + remainingAmount;
  return total > (askedAmount ?? payableAmount) ? total : askedAmount;
}

/**
 * Returns the invoice with the option in force in which new money has come, so that the invoice, its receipt and the
 * page speak of the token that was sent.
 */
export function followMoney(row: InvoiceRow, { several }: PaymentTotals): InvoiceRow {
  if (several === undefined) return row;
  const quotes = quotesOf(row);
  const paid = several.quotes.flatMap((totals) => {
    const quote = quotes.find((each) => isSameOption(each, totals));
    return quote !== undefined && totals.seen > quote.seen ? [quote] : [];
  });
  const [first] = paid;
  const isInForce = paid.some((quote) => isSameOption(quote, row));
  return first === undefined || isInForce ? row : putInForce(row, first);
}

/** Returns the columns that follow from the totals of an invoice's payments. */
export function columnsOf(
  row: InvoiceRow,
  totals: PaymentTotals,
): Pick<
  InvoiceRow,
  "seenAmount" | "confirmedAmount" | "latestBlock" | "paidAmount" | "paymentOptions"
> {
  const { several, seen, confirmed, latestBlock } = totals;
  const { paidAmount, paymentOptions } = row;
  if (several === undefined) {
    return {
      seenAmount: seen,
      confirmedAmount: confirmed,
      latestBlock,
      paidAmount,
      paymentOptions,
    };
  }
  const quotes = quotesOf(row).map((quote) => {
    const own = several.quotes.find((each) => isSameOption(each, quote));
    return own === undefined ? quote : { ...quote, ...own };
  });
  const inForce = quotes.find((quote) => isSameOption(quote, row));
  /* c8 ignore next: a defect of the store. */
  if (inForce === undefined) throw new Defect(`${row.id} has no quote for its option in force`);
  return {
    seenAmount: tokensAt(row, quotes, paidShare(quotes), inForce),
    confirmedAmount: tokensAt(
      row,
      quotes,
      paidShare(quotes, (quote) => quote.confirmed),
      inForce,
    ),
    latestBlock: latestBlockOn(row.network, quotes),
    paidAmount: several.paidAmount,
    paymentOptions: storedOptions(row, quotes),
  };
}

function latestBlockOn(network: string, quotes: readonly Quote[]): number | null {
  const blocks = quotes.flatMap((quote) =>
    quote.network === network ? (quote.latestBlock ?? []) : [],
  );
  return blocks.length === 0 ? null : Math.max(...blocks);
}
