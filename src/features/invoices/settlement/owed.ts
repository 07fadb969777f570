import { isSameOption } from "../../organizations/checkout-policy.ts";
import {
  belowDust,
  excessOf,
  excessSlackOf,
  quoteFor,
  storedQuotesOf,
  type ExcessTerms,
} from "../options/quotes.ts";
import type { InvoiceRow } from "../store.ts";

/** The columns of an invoice that the money follows from that is owed or in review. */
type OwedTerms = ExcessTerms &
  Pick<InvoiceRow, "status" | "managedBy" | "confirmedAmount" | "aside">;

/**
 * Returns the money that the merchant owes to the payer of an invoice, in the smallest unit of the token in force: the
 * confirmed excess of a paid invoice and the confirmed payments of an expired or canceled one, less their refunds, and
 * what is left of rejected payments. A payment that counts and is not confirmed may never have come, so it is not owed; a
 * rejected one is owed from the first block on, and can be refunded when its block is final. Managed invoices
 * owe nothing: the feature that manages them turns the excess into credit.
 */
export function owedOf(row: OwedTerms): bigint {
  if (row.managedBy !== null) return 0n;
  const unneeded = unneededOf(row) - sumInForce(row, ({ refunded }) => refunded);
  const left = unneeded > leftOver(row) ? unneeded : 0n;
  return left + sumInForce(row, ({ rejected }) => rejected);
}

/**
 * Returns the most that refunds can leave of an excess and that is owed to nobody: less than dust, which cannot be sent,
 * and the rounding of refunds in another token; 0 without refunds.
 */
function leftOver(row: OwedTerms): bigint {
  const refunded = readAside(row.aside ?? []).filter((sums) => sums.refunded > 0n);
  if (refunded.length === 0) return 0n;
  return refunded.every((sums) => isSameOption(sums, row)) ? belowDust(row) : excessSlackOf(row);
}

/** Returns the money that waits for the merchant's decision, in the smallest unit of the token in force. */
export function inReviewOf(row: OwedTerms): bigint {
  return sumInForce(row, ({ inReview }) => inReview);
}

/** Returns the part of the confirmed payments that the invoice does not need. */
function unneededOf(row: OwedTerms): bigint {
  if (row.status === "expired" || row.status === "canceled") return row.confirmedAmount;
  return row.status === "paid" ? excessOf({ ...row, seenAmount: row.confirmedAmount }) : 0n;
}

/** Adds up sums at the invoice's rates, in the token in force. Each one in another token is rounded down. */
function sumInForce(row: OwedTerms, sumOf: (sums: Aside) => bigint): bigint {
  const { aside, payableAmount } = row;
  if (aside === null || payableAmount === null) return 0n;
  return readAside(aside).reduce((total, sums) => {
    const { network, tokenSymbol } = sums;
    if (isSameOption(sums, row)) return total + sumOf(sums);
    const quote = quoteFor(storedQuotesOf(row), { network, token: tokenSymbol });
    if (quote === undefined) return total;
    return total + (sumOf(sums) * payableAmount) / quote.payableAmount;
  }, 0n);
}

/** Sums of an invoice's payments in one token that `paidTokenAmount` does not show, in the token's smallest unit. */
interface AsideFields<Amount> {
  readonly network: string;
  readonly tokenSymbol: string;
  /** The money of rejected payments that is owed to their payer, less its refunds that are sent or confirmed. */
  readonly rejected: Amount;
  /** The payments in review. */
  readonly inReview: Amount;
  /** The refunds of payments that count, sent or confirmed. */
  readonly refunded: Amount;
}

export type Aside = AsideFields<bigint>;
/** The sums as the invoice stores them, in decimal text. */
export type StoredAside = AsideFields<string>;

/** Returns the sums to store, in a fixed order; null if there are none. */
export function storedAside(sums: readonly Aside[]): readonly StoredAside[] | null {
  if (sums.length === 0) return null;
  const keyOf = ({ network, tokenSymbol }: StoredAside) => `${network} ${tokenSymbol}`;
  return sums
    .map(({ network, tokenSymbol, rejected, inReview, refunded }) => ({
      network,
      tokenSymbol,
      rejected: String(rejected),
      inReview: String(inReview),
      refunded: String(refunded),
    }))
    .toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}

export function readAside(stored: readonly StoredAside[] | null): readonly Aside[] {
  return (stored ?? []).map(({ network, tokenSymbol, ...sums }) => ({
    network,
    tokenSymbol,
    rejected: BigInt(sums.rejected),
    inReview: BigInt(sums.inReview),
    refunded: BigInt(sums.refunded),
  }));
}
