import { Defect } from "../../../kernel/errors.ts";
import { parsePercent } from "../../../kernel/money/percent.ts";
import type { Ratio } from "../../../kernel/money/ratio.ts";
import { isSameOption } from "../../organizations/checkout-policy/payment-options.ts";
import type { PaymentTotals } from "../rules.ts";
import type { InForce, InvoiceRow } from "../store.ts";
import {
  quotesOf,
  paidShare,
  roundedShare,
  roundingOf,
  storedOptions,
  tokensOf,
  worthOf,
  type Quote,
  type Share,
} from "./quotes.ts";

export function toleranceOf(row: Pick<InvoiceRow, "id" | "underpaymentTolerance">): Ratio {
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
