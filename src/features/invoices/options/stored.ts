import type { Id } from "../../../kernel/id.ts";
import type { PaymentOption } from "../../organizations/checkout-policy/payment-options.ts";

/** The options of an invoice that may have a hold, so that one invoice does not take the amounts of many. */
export const quotesMax = 5;

/** An option as the invoice stores it. Amounts are decimal text, in the token's smallest unit. */
export interface StoredOption extends PaymentOption {
  /** Null while the option has no hold, and for all options of an invoice that has only its first hold. */
  readonly quote: StoredQuote | null;
}

/** The terms at which an option was taken, with the sums of the payments in it. */
export interface QuoteFields<Amount> {
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
