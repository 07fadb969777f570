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
