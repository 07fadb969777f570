import type { Asset } from "./asset.ts";
import type { Instant } from "./clock.ts";
import { Defect } from "./errors.ts";
import type { Money } from "./money.ts";
import type { Ratio, Rounding } from "./ratio.ts";
import { divideRounded, formatRatio, powerOfTen, readRatio } from "./ratio.ts";

/** What one whole `from` is worth in whole `to`, who says so, and when they said it. */
export interface Rate extends Ratio {
  /** Codes of assets: rates are between kinds of money, whatever unit a network counts them in. */
  readonly from: string;
  readonly to: string;
  readonly source: string;
  readonly at: Instant;
}

/** The digits that a rate below one is shown with at most; one above it has so many decimals. */
const rateDigitsShown = 12;

/**
 * Reads a price as decimal text (`1.0834`) exactly. Zero, and what is not plain decimal text, is a RangeError: no
 * amount may be converted by it.
 */
export function parseRate(text: string, of: Omit<Rate, keyof Ratio>): Rate {
  return { ...of, ...readRatio(text) };
}

/** The rate between two that are worth the same, by configuration or because they are one. */
export function parRate(of: Omit<Rate, keyof Ratio>): Rate {
  return { ...of, numerator: 1n, denominator: 1n };
}

/** The rate of the opposite direction, exact. */
export function invertRate(rate: Rate): Rate {
  const { from, to, numerator, denominator } = rate;
  return { ...rate, from: to, to: from, numerator: denominator, denominator: numerator };
}

/**
 * A rate as decimal text to read, of at most 12 decimals after the zeros that it begins with: that of a yen in coins
 * has to be told from nothing. Not for arithmetic.
 */
export function formatRate({ numerator, denominator }: Ratio): string {
  let zeros = 0;
  while (numerator * powerOfTen(zeros + 1) < denominator) zeros += 1;
  return formatRatio({ numerator, denominator }, zeros + rateDigitsShown, "half_even");
}

/** The amount in another asset. The rate must lead from the amount's asset to that one. */
export function convert(amount: Money, rate: Rate, to: Asset, rounding: Rounding): Money {
  if (rate.from !== amount.asset.code || rate.to !== to.code) {
    throw new Defect(
      `a rate from ${rate.from} to ${rate.to} does not convert ${amount.asset.code} to ${to.code}`,
    );
  }
  const dividend = amount.units * rate.numerator * powerOfTen(to.decimals);
  const divisor = rate.denominator * powerOfTen(amount.asset.decimals);
  return { units: divideRounded(dividend, divisor, rounding), asset: to };
}
