import { invalidField } from "../errors.ts";
import type { Ratio } from "./ratio.ts";
import { formatRatio, ratio } from "./ratio.ts";

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
