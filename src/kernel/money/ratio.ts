import type { Instant } from "../clock.ts";
import { Defect, invalidField } from "../errors.ts";
import type { Asset, Money } from "./money.ts";

/** An exact fraction. The denominator is positive. */
export interface Ratio {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/**
 * How a remainder is rounded: towards zero, away from zero, or to the nearest with ties to the even neighbor or away
 * from zero.
 */
export type Rounding = "down" | "up" | "half_even" | "half_away";

/** Divides two whole numbers; a negative quotient is rounded like its absolute value. */
export function divideRounded(dividend: bigint, divisor: bigint, rounding: Rounding): bigint {
  if (divisor === 0n) throw new RangeError("division by zero");
  const isNegative = dividend < 0n !== divisor < 0n;
  const whole = magnitude(dividend) / magnitude(divisor);
  const rest = magnitude(dividend) % magnitude(divisor);
  const rounded = roundsAway(whole, rest, magnitude(divisor), rounding) ? whole + 1n : whole;
  return isNegative ? -rounded : rounded;
}

function roundsAway(whole: bigint, rest: bigint, divisor: bigint, rounding: Rounding): boolean {
  if (rest === 0n) return false;
  switch (rounding) {
    case "down":
      return false;
    case "up":
      return true;
    case "half_away":
      return rest * 2n >= divisor;
    case "half_even":
      return rest * 2n > divisor || (rest * 2n === divisor && whole % 2n === 1n);
  }
}

/** Returns the absolute value. */
export function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}

/**
 * Returns a fraction in lowest terms.
 * @throws RangeError for a zero or negative denominator
 */
export function ratio(numerator: bigint, denominator: bigint): Ratio {
  if (denominator <= 0n) throw new RangeError("a ratio's denominator is positive");
  const divisor = greatestCommonDivisor(magnitude(numerator), denominator);
  return { numerator: numerator / divisor, denominator: denominator / divisor };
}

const decimalForm = /^(0|[1-9][0-9]{0,17})(?:\.([0-9]{1,36}))?$/;

/**
 * Parses a positive decimal number (`1.0834`) exactly: no sign, no exponent, at most 18 digits before the point and 36
 * after it.
 * @throws RangeError for zero and for any other text
 */
export function readRatio(text: string): Ratio {
  const match = decimalForm.exec(text);
  const [, whole = "", fraction = ""] = match ?? [];
  const numerator = match === null ? 0n : BigInt(whole + fraction);
  if (numerator === 0n) throw new RangeError("a rate is a positive decimal number");
  return ratio(numerator, powerOfTen(fraction.length));
}

/** Compares two fractions for sorting: -1, 0 or 1. */
export function compareRatios(one: Ratio, other: Ratio): number {
  const difference = one.numerator * other.denominator - other.numerator * one.denominator;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

function greatestCommonDivisor(one: bigint, other: bigint): bigint {
  let [larger, smaller] = [one, other];
  while (smaller !== 0n) [larger, smaller] = [smaller, larger % smaller];
  return larger;
}

/** Returns ten to a non-negative power. */
export function powerOfTen(exponent: number): bigint {
  return 10n ** BigInt(exponent);
}

/**
 * Formats a count of 10^-decimals units as decimal text without exponent, with at least `least` decimals and no
 * trailing zeros beyond them.
 */
export function formatUnits(units: bigint, decimals: number, least: number): string {
  const digits = magnitude(units)
    .toString()
    .padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  let end = digits.length;
  while (end - whole.length > least && digits.charAt(end - 1) === "0") end -= 1;
  const fraction = digits.slice(whole.length, end);
  const sign = units < 0n ? "-" : "";
  return fraction === "" ? sign + whole : `${sign}${whole}.${fraction}`;
}

/** Formats a fraction as decimal text, rounded to at most `decimals` decimals. */
export function formatRatio(value: Ratio, decimals: number, rounding: Rounding): string {
  const units = divideRounded(value.numerator * powerOfTen(decimals), value.denominator, rounding);
  return formatUnits(units, decimals, 0);
}

const percentDecimals = 4;
const percentForm = /^(0|[1-9][0-9]{0,2})(?:\.([0-9]{1,4}))?$/;

/** Percentages as text, for schemas; the bounds are checked by the parser. */
export const percentPattern = percentForm;

/** The largest underpayment tolerance that a merchant may set, in percent. */
export const maxTolerancePercent = 5;

/**
 * Parses a percentage (`2.5`, unsigned, at most 4 decimals) as an exact fraction of one (1/40). Returns null for any
 * other text and for more than `mostPercent`.
 */
export function parsePercent(text: string, mostPercent = 100): Ratio | null {
  const match = percentForm.exec(text);
  if (match === null) return null;
  const [, whole = "", fraction = ""] = match;
  const scaled = BigInt(whole + fraction.padEnd(percentDecimals, "0"));
  const scale = 10n ** BigInt(percentDecimals);
  return scaled > BigInt(mostPercent) * scale ? null : ratio(scaled, 100n * scale);
}

/** Formats a fraction of one as a percentage in its shortest form. */
export function formatPercent(value: Ratio): string {
  const percent = { numerator: value.numerator * 100n, denominator: value.denominator };
  return formatRatio(percent, percentDecimals, "half_even");
}

/** Parses a percentage in a request. Anything but 0 to `mostPercent` is a 400 problem that names the pointer. */
export function parsePercentField(pointer: string, text: string, mostPercent = 100): Ratio {
  const value = parsePercent(text, mostPercent);
  if (value !== null) return value;
  const most = String(mostPercent);
  throw invalidField(
    pointer,
    "not_percent",
    `must be a percentage from 0 to ${most} as text such as "2.5", with at most 4 decimals`,
  );
}

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
