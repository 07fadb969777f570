import { invalidField } from "./errors.ts";
import type { Ratio } from "./ratio.ts";
import { formatRatio, ratio } from "./ratio.ts";

const percentDecimals = 4;
const percentForm = /^(0|[1-9][0-9]{0,2})(?:\.([0-9]{1,4}))?$/;

/** A percentage as text, for schemas; its bounds are the reader's to check. */
export const percentPattern = percentForm;

/** The largest underpayment that a merchant may choose to overlook, in percent. */
export const maxTolerancePercent = 5;

/**
 * Reads a percentage (`2.5`, no sign, at most 4 decimals) as an exact fraction of one: 1/40. Null for anything else,
 * and for more than `mostPercent`.
 */
export function parsePercent(text: string, mostPercent = 100): Ratio | null {
  const match = percentForm.exec(text);
  if (match === null) return null;
  const [, whole = "", fraction = ""] = match;
  const scaled = BigInt(whole + fraction.padEnd(percentDecimals, "0"));
  const scale = 10n ** BigInt(percentDecimals);
  return scaled > BigInt(mostPercent) * scale ? null : ratio(scaled, 100n * scale);
}

/** A fraction of one as a percentage in its shortest text. */
export function formatPercent(value: Ratio): string {
  const percent = { numerator: value.numerator * 100n, denominator: value.denominator };
  return formatRatio(percent, percentDecimals, "half_even");
}

/** Reads a request's percentage: anything else than 0 to `mostPercent` is a 400 that names the pointer. */
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
