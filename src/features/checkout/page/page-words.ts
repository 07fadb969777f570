import type { CheckoutSession } from "../present.ts";

/** Appearance of a state. Each tone has its own icon, so that color is never the only signal. */
export type Tone = "asking" | "working" | "done" | "careful" | "over";

/** The words of a page that has no payment. */
export interface StateWords {
  readonly tone: Tone;
  readonly headline: string;
  readonly paragraphs: readonly string[];
}

/** Returns an amount of the invoice's token with its symbol: `25.0001 USDT`. */
export function tokenText({ invoice }: CheckoutSession, amount: string): string {
  return `${amount} ${invoice.tokenSymbol}`;
}

/** Returns `TRON (TRC-20)`: the network always appears with its token standard. */
export function networkText({ networkTitle, tokenStandard }: CheckoutSession): string {
  return `${networkTitle} (${tokenStandard})`;
}
