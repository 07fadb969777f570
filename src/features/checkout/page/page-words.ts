import {
  formatMoney,
  maxAssetDecimals,
  parseMoney,
  tokenAsset,
} from "../../../kernel/money/money.ts";
import type { CheckoutSession } from "../session.ts";
import { networkText } from "./catalogue.ts";
import { sumsByToken } from "../shown-payments.ts";

/** Appearance of a state. Each tone has its own icon, so that color is never the only signal. */
export type Tone = "asking" | "working" | "done" | "careful" | "over";

/** The words of a page that has no payment. */
export interface StateWords {
  readonly tone: Tone;
  readonly headline: string;
  readonly paragraphs: readonly string[];
}

/** A field in which a payer enters something. */
export type FormField = "transactionHash" | "address";

/** Result of a form that the payer has sent. */
export interface PageNotice {
  /** The form, which stays open after an error; null for the test panel. */
  readonly form: "hash" | "option" | "refund" | null;
  readonly isError: boolean;
  readonly text: string;
  /** The field beside which an error stands, and what was entered in each field of the form. */
  readonly field?: FormField;
  readonly given?: Readonly<Record<FormField, string>>;
}

/** An amount in its own token, as decimal text. */
type TokenAmount = CheckoutSession["arrivedAmounts"][number];

/** Returns an amount with the symbol of its token: `25.0001 USDT`. */
export function amountText({ amount, tokenSymbol }: TokenAmount): string {
  return `${amount} ${tokenSymbol}`;
}

/** Returns the sums of amounts, for people: `12.50 USDT`, or `12.50 USDT + 3.00 USDC`. */
export function sumText(amounts: readonly TokenAmount[]): string {
  const each = amounts.map(({ amount, tokenSymbol }) =>
    parseMoney(amount, tokenAsset(tokenSymbol, maxAssetDecimals)),
  );
  return sumsByToken(each)
    .map((sum) => `${formatMoney(sum)} ${sum.asset.code}`)
    .join(" + ");
}

/** Returns the values of the placeholders that many texts have. `amount` is still to be paid. */
export function valuesOf(session: CheckoutSession) {
  const { merchantDisplayName: merchant, invoice } = session;
  return {
    merchant,
    contact: merchant,
    reference: invoice.reference,
    network: networkText(session),
    token: invoice.tokenSymbol,
    amount: tokenText(session, invoice.remainingAmount),
  };
}

/** Returns an amount of the invoice's token with its symbol: `25.0001 USDT`. */
export function tokenText({ invoice }: CheckoutSession, amount: string): string {
  return `${amount} ${invoice.tokenSymbol}`;
}
