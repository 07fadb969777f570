import type { AmountToken } from "../../src/features/invoices/holds/amounts.ts";

/** A token pegged to the dollar, of which payers are asked for six decimals at most. */
export function peggedToken(decimals: number): AmountToken {
  return { decimals, amountDecimals: Math.min(decimals, 6), pegs: ["USD"] };
}

/** A search for an amount of a price that the merchant stated. */
export const stated = { holder: null, enteredAtLink: null } as const;
