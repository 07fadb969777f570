import type { Asset } from "./asset.ts";
import type { Instant } from "../clock.ts";
import { Defect } from "../errors.ts";
import type { Money } from "./money.ts";
import type { Ratio, Rounding } from "./ratio.ts";
import { divideRounded, formatRatio, powerOfTen } from "./ratio.ts";

/** An exchange rate: the price of one whole `from` in whole `to`, with its source and time. */
export interface Rate extends Ratio {
  /** Asset codes. Rates are between whole units, so they do not depend on the decimals of a network. */
  readonly from: string;
  readonly to: string;
  readonly source: string;
  readonly at: Instant;
}

/** The decimals that a rate is shown with, not counting its leading zeros. */
const rateDigitsShown = 12;

/** Returns a rate of one, for assets that are pegged by configuration or identical. */
export function parRate(of: Omit<Rate, keyof Ratio>): Rate {
  return { ...of, numerator: 1n, denominator: 1n };
}

/** Returns the exact rate of the opposite direction. */
export function invertRate(rate: Rate): Rate {
  const { from, to, numerator, denominator } = rate;
  return { ...rate, from: to, to: from, numerator: denominator, denominator: numerator };
}

/**
 * Formats a rate for display, with up to 12 decimals after its leading zeros, so that a very small rate (yen in
 * bitcoin) does not appear as zero. Not for arithmetic.
 */
export function formatRate({ numerator, denominator }: Ratio): string {
  let zeros = 0;
  while (numerator * powerOfTen(zeros + 1) < denominator) zeros += 1;
  return formatRatio({ numerator, denominator }, zeros + rateDigitsShown, "half_even");
}

/** Converts an amount to another asset. The rate must go from the amount's asset to that one. */
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
