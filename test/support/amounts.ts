import { expect } from "chai";
import type { AmountToken } from "../../src/features/invoices/holds/amounts.ts";
import { markAt } from "../../src/features/invoices/holds/holds.ts";

/** Converts USDT, as decimal text or a number, to its smallest unit. */
export const usdt = (amount: unknown): bigint => BigInt(Math.round(Number(amount) * 1_000_000));

/** A token pegged to the dollar, of which payers are asked for six decimals at most. */
export function peggedToken(decimals: number): AmountToken {
  return { decimals, amountDecimals: Math.min(decimals, 6), pegs: ["USD"] };
}

/** A search for an amount of a price that the merchant stated. */
export const stated = { holder: null, enteredAtLink: null } as const;

/**
 * Expects an amount of a token of six decimals to be a price with digits, which nobody can foresee: more by less than 0.1,
 * or at most 1 %, and not round. The digits have four decimals where 1 % has 1,000 such amounts. Amounts are decimal
 * text, or in the token's smallest unit; so is the result.
 */
export function expectDigits(asked: unknown, price: unknown): bigint {
  const [amount, base] = [asked, price].map((each) =>
    typeof each === "bigint" ? each : BigInt(Math.round(Number(each) * 1_000_000)),
  ) as [bigint, bigint];
  const digits = amount - base;
  const most = base / 100n < 100_000n ? base / 100n : 100_000n;
  expect(digits > 0n && digits <= most, `${String(amount)} for ${String(base)}`).to.equal(true);
  if (base >= 10_100_000n) expect(digits % 100n, "more than four decimals").to.equal(0n);
  expect(amount % 10_000n, "two decimals").not.to.equal(0n);
  return amount;
}

/** A source of random bytes of which the nth group of 8 is the number n: the lowest digits come first. */
export function counting(length: number, factor = 1n): Uint8Array {
  const words = new DataView(new ArrayBuffer(length));
  for (let n = 0; n < length / 8; n += 1) words.setBigUint64(8 * n, BigInt(n) * factor);
  return new Uint8Array(words.buffer);
}

/** The mark of a hold on a network that was never read. */
export const unmarked = markAt(null, { pollMs: 0, blockTimeMs: 0 }, 0);

/** A candidate above every mark, which was not recorded before. */
export const unseen = { blockHeight: 1_000_000, recordedAt: null } as const;

/** A chain of which nothing is known but that it is long. */
export const longChain = { tipHeight: 1_000_000, hashes: [] } as const;
