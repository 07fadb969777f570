import type { Id } from "../../../kernel/id.ts";
import { compareRatios, divideRounded, type Ratio } from "../../../kernel/money/ratio.ts";
import { dueAmount } from "../rules.ts";
import type { InvoiceRow } from "../store.ts";
import { isSameOption, type PaymentOption } from "../../organizations/checkout-policy.ts";

/** The options of an invoice that may have a hold, so that one invoice does not take the amounts of many. */
export const quotesMax = 5;

/** An option as the invoice stores it. Amounts are decimal text, in the token's smallest unit. */
export interface StoredOption extends PaymentOption {
  /** Null while the option has no hold, and for all options of an invoice that has only its first hold. */
  readonly quote: StoredQuote | null;
}

/** The terms at which an option was taken, with the sums of the payments in it. */
interface QuoteFields<Amount> {
  readonly tokenDecimals: number;
  readonly requiredConfirmations: number;
  readonly exchangeRate: string;
  readonly walletId: Id<"wallet"> | null;
  /** In the network's notation. */
  readonly walletAddress: string;
  readonly addressIndex: number | null;
  /** The invoice's whole amount in the token, at the rate of the quote. */
  readonly payableAmount: Amount;
  readonly askedAmount: Amount | null;
  /** The token's dust at that time; null for quotes of earlier versions, of which nothing is rounded. */
  readonly dustAmount: Amount | null;
  /** The amount that remained when the option was last in force, and the amount received until then, both in the token. */
  readonly remainingAmount: Amount;
  readonly remainingAfter: Amount;
  /** The sums of the counted and of the confirmed payments in this token on this network. */
  readonly seen: Amount;
  readonly confirmed: Amount;
  /** The newest block with one of them. */
  readonly latestBlock: number | null;
}

export type StoredQuote = Omit<QuoteFields<string>, "dustAmount"> & {
  /** Absent in quotes of earlier versions. */
  readonly dustAmount?: string | null;
};

/** An option with a hold: its rate and its amount do not change any more. */
export interface Quote extends QuoteFields<bigint> {
  readonly network: string;
  readonly tokenSymbol: string;
}

/** Returns the quote for money in a token on a network. */
export function quoteFor(
  quotes: readonly Quote[],
  { network, token }: { readonly network: string; readonly token: string },
): Quote | undefined {
  return quotes.find((quote) => quote.network === network && quote.tokenSymbol === token);
}

/** Returns the options of an invoice, in the order in which the merchant offers them. */
export function optionsOf(row: InvoiceRow): readonly PaymentOption[] {
  return row.paymentOptions ?? [row];
}

/** Returns the options that have a hold; none for a draft. That in force is as the invoice's own columns say. */
export function quotesOf(row: InvoiceRow): readonly Quote[] {
  const stored = storedQuotesOf(row);
  const sums = stored.find((quote) => isSameOption(quote, row));
  const inForce = quoteInForce(row, sums);
  if (inForce === null) return [];
  return sums === undefined ? [inForce] : stored.map((quote) => (quote === sums ? inForce : quote));
}

/** Returns the stored quotes; none if the invoice has had the holds of one option only. */
export function storedQuotesOf({
  paymentOptions,
}: Pick<InvoiceRow, "paymentOptions">): readonly Quote[] {
  return (paymentOptions ?? []).flatMap(({ quote, network, tokenSymbol }) =>
    quote === null ? [] : [readQuote(quote, network, tokenSymbol)],
  );
}

function quoteInForce(row: InvoiceRow, sums: Quote | undefined): Quote | null {
  const { payableAmount, walletAddress, exchangeRate, remainingAmount, seenAmount } = row;
  const { dustAmount } = row;
  if (payableAmount === null || walletAddress === null || exchangeRate === null) return null;
  return {
    network: row.network,
    tokenSymbol: row.tokenSymbol,
    tokenDecimals: row.tokenDecimals,
    requiredConfirmations: row.requiredConfirmations,
    exchangeRate,
    walletId: row.walletId,
    walletAddress,
    addressIndex: row.addressIndex,
    payableAmount,
    askedAmount: row.askedAmount,
    dustAmount,
    remainingAmount: remainingAmount ?? 0n,
    remainingAfter: seenAmount,
    seen: sums?.seen ?? seenAmount,
    confirmed: sums?.confirmed ?? row.confirmedAmount,
    latestBlock: sums === undefined ? row.latestBlock : sums.latestBlock,
  };
}

/** Returns the invoice's options with the given quotes, to be stored. */
export function storedOptions(
  row: InvoiceRow,
  quotes: readonly Quote[],
): readonly StoredOption[] | null {
  if (row.paymentOptions === null || quotes.length < 2) return row.paymentOptions;
  return row.paymentOptions.map((option) => {
    const quote = quotes.find((each) => isSameOption(each, option));
    return { ...option, quote: quote === undefined ? null : writeQuote(quote) };
  });
}

function readQuote(stored: StoredQuote, network: string, tokenSymbol: string): Quote {
  return {
    ...stored,
    network,
    tokenSymbol,
    payableAmount: BigInt(stored.payableAmount),
    askedAmount: stored.askedAmount === null ? null : BigInt(stored.askedAmount),
    dustAmount: stored.dustAmount == null ? null : BigInt(stored.dustAmount),
    remainingAmount: BigInt(stored.remainingAmount),
    remainingAfter: BigInt(stored.remainingAfter),
    seen: BigInt(stored.seen),
    confirmed: BigInt(stored.confirmed),
  };
}

function writeQuote({ network: _, tokenSymbol: __, ...quote }: Quote): StoredQuote {
  return {
    ...quote,
    payableAmount: String(quote.payableAmount),
    askedAmount: quote.askedAmount === null ? null : String(quote.askedAmount),
    dustAmount: quote.dustAmount === null ? null : String(quote.dustAmount),
    remainingAmount: String(quote.remainingAmount),
    remainingAfter: String(quote.remainingAfter),
    seen: String(quote.seen),
    confirmed: String(quote.confirmed),
  };
}

/** The columns of an invoice that its excess follows from. */
export type ExcessTerms = Pick<
  InvoiceRow,
  | "payableAmount"
  | "askedAmount"
  | "dustAmount"
  | "seenAmount"
  | "network"
  | "tokenSymbol"
  | "paymentOptions"
>;

/**
 * Returns the part of an invoice's payments above the most that was requested in total, in the smallest unit of the
 * token in force; 0 up to `excessSlackOf`.
 */
export function excessOf(row: ExcessTerms): bigint {
  const { payableAmount, askedAmount, seenAmount } = row;
  if (payableAmount === null) return 0n;
  const excess = seenAmount - (askedAmount ?? payableAmount);
  return excess > excessSlackOf(row) ? excess : 0n;
}

/**
 * Returns the largest excess of an invoice's payments that is not an overpayment, in the smallest unit of the token in force:
 * less than the token's dust, which nobody can send back, and what rounding between options can add.
 */
export function excessSlackOf(row: ExcessTerms): bigint {
  const quotes = storedQuotesOf(row);
  const inForce = quotes.find((quote) => isSameOption(quote, row));
  return belowDust(row) + roundingSlack(quotes, inForce);
}

/** Returns the largest amount below the dust; 0 without dust, as for invoices of earlier versions. */
export function belowDust({ dustAmount }: Pick<Quote, "dustAmount">): bigint {
  return dustAmount === null || dustAmount === 0n ? 0n : dustAmount - 1n;
}

/** Returns the least that a payer can be asked for to fill a rest: transfers below the dust are ignored. */
export function askableRest(rest: bigint, dust: bigint): bigint {
  return rest < dust ? dust : rest;
}

// --- money over several options -----------------------------------------------------------------------------------

/** The share of its invoice that some payments pay, exactly; 1 is all of it. */
export type Share = Ratio;

export const noShare: Share = { numerator: 0n, denominator: 1n };

/**
 * Adds a payment to a share: its amount in relation to the invoice's amount in the same token. Nothing is rounded, so
 * that payments in several tokens add up to the unit, in any order.
 */
export function addShare(
  { numerator, denominator }: Share,
  amount: bigint,
  payableAmount: bigint,
): Share {
  if (denominator % payableAmount === 0n) {
    return { numerator: numerator + amount * (denominator / payableAmount), denominator };
  }
  return {
    numerator: numerator * payableAmount + amount * denominator,
    denominator: denominator * payableAmount,
  };
}

/** Returns the share of the sums of quotes. */
export function paidShare(
  quotes: readonly Quote[],
  sumOf: (quote: Quote) => bigint = ({ seen }) => seen,
): Share {
  return quotes.reduce(
    (share, quote) => addShare(share, sumOf(quote), quote.payableAmount),
    noShare,
  );
}

/** Returns a share of an amount, rounded down to its unit: paying everything that is asked for gives the amount. */
export function worthOf({ numerator, denominator }: Share, amount: bigint): bigint {
  return (numerator * amount) / denominator;
}

/**
 * Returns a share in a token, rounded down; but not below an amount that suffices if the exact share reaches that, so that
 * it does not depend on the option in force whether an invoice is paid.
 */
export function tokensOf(
  share: Share,
  { payableAmount, tolerance, rounding }: SufficientTerms,
): bigint {
  return [tolerance, rounding]
    .filter((missing) => lacksAtMost(share, missing))
    .map((missing) => dueAmount(payableAmount, missing))
    .reduce((most, due) => (due > most ? due : most), worthOf(share, payableAmount));
}

/** The terms by which an invoice is paid although a part of it is missing. */
interface SufficientTerms {
  /** In the token's smallest unit. */
  readonly payableAmount: bigint;
  /** The part that the merchant does without. */
  readonly tolerance: Ratio;
  /** The part that nobody can be asked for: see `roundingOf`. */
  readonly rounding: Ratio;
}

/** Returns the minimum that pays an invoice, in the token's smallest unit. */
export function dueOf({ payableAmount, tolerance, rounding }: SufficientTerms): bigint {
  const larger = compareRatios(tolerance, rounding) < 0 ? rounding : tolerance;
  return dueAmount(payableAmount, larger);
}

/** The largest part of an invoice that is rounded: 1 %. */
const roundedMost: Ratio = { numerator: 1n, denominator: 100n };

/**
 * Returns the largest part of an invoice that counts as paid because nobody can be asked for it: less than the dust of
 * every token in which it has an amount, and at most 1 %. None for quotes of earlier versions
 * (docs/decisions/0055).
 */
export function roundingOf(quotes: readonly Pick<Quote, "dustAmount" | "payableAmount">[]): Ratio {
  return quotes.reduce((least, quote) => {
    const part = { numerator: belowDust(quote), denominator: quote.payableAmount };
    return compareRatios(part, least) < 0 ? part : least;
  }, roundedMost);
}

/** Returns the share that counts: all of an invoice if only a part is missing that is rounded. */
export function roundedShare(share: Share, rounding: Ratio): Share {
  const isAll = share.numerator < share.denominator && lacksAtMost(share, rounding);
  return isAll ? { numerator: 1n, denominator: 1n } : share;
}

/** An invoice's terms by which its tokens are valued; amounts in smallest units, null before the issue. */
interface SettlementTerms {
  readonly amount: bigint;
  readonly payableAmount: bigint | null;
  readonly dustAmount: bigint | null;
}
export type SettlementColumn = keyof SettlementTerms;

/**
 * Returns the value of an invoice's paid tokens in the settlement currency, rounded down, so that an exact payment yields
 * exactly the amount, and so does one from which only a part is missing that is rounded. Before the issue, nothing is
 * payable or paid, and the value is 0. Not for an invoice with several options.
 */
export function settlementOf(
  seen: bigint,
  { amount, payableAmount, dustAmount }: SettlementTerms,
): bigint {
  if (payableAmount === null || payableAmount === 0n) return 0n;
  const share = { numerator: seen, denominator: payableAmount };
  return worthOf(roundedShare(share, roundingOf([{ payableAmount, dustAmount }])), amount);
}

function lacksAtMost({ numerator, denominator }: Share, missing: Ratio): boolean {
  return numerator * missing.denominator >= denominator * (missing.denominator - missing.numerator);
}

/**
 * Returns the most that rounding between options can add to what the payer of an invoice has sent: what is asked for in
 * one token is worth up to a unit of it more than what was missing.
 */
export function roundingSlack(quotes: readonly Quote[], inForce: Quote | undefined): bigint {
  if (inForce === undefined || quotes.length < 2) return 0n;
  return quotes.reduce((slack, quote) => {
    if (quote === inForce) return slack;
    return slack + divideRounded(inForce.payableAmount, quote.payableAmount, "up") + 1n;
  }, 0n);
}
