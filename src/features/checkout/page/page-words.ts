import type { CheckoutSession } from "../present.ts";

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

/** Returns an amount of the invoice's token with its symbol: `25.0001 USDT`. */
export function tokenText({ invoice }: CheckoutSession, amount: string): string {
  return `${amount} ${invoice.tokenSymbol}`;
}
