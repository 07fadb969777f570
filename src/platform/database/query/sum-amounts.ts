import { Defect } from "../../../kernel/errors.ts";
import type { Dialect } from "../database.ts";

/** 78 digits are split into a limb of 6 and eight of 9; SQLite's integers hold the sum of nine billion such limbs. */
const firstDigits = 6;
const limbDigits = 9;
const limbs = 8;

/**
 * Returns SQL for the exact sum of an amount column, to be selected (`sumOfAmounts(…) AS total`) and read with
 * `decodeSum`. SQLite's SUM of such numbers would be a float.
 */
export function sumOfAmounts(dialect: Dialect, column: string): string {
  if (dialect === "postgres") return `CAST(SUM(CAST(${column} AS NUMERIC)) AS TEXT)`;
  const limb = (start: number, digits: number) =>
    `SUM(CAST(SUBSTR(${column}, ${String(start)}, ${String(digits)}) AS INTEGER))`;
  const rest = Array.from({ length: limbs }, (_, index) =>
    limb(1 + firstDigits + index * limbDigits, limbDigits),
  );
  return [limb(1, firstDigits), ...rest].join(" || ' ' || ");
}

/** Decodes a sum; 0 if there were no rows. */
export function decodeSum(stored: unknown): bigint {
  if (stored === null) return 0n;
  if (typeof stored !== "string") throw new Defect("a sum of amounts comes back as text");
  return stored
    .split(" ")
    .reduce((sum, limb) => sum * 10n ** BigInt(limbDigits) + BigInt(limb), 0n);
}

/**
 * Returns a statement that adds rows up exactly by key. `rows` selects `key`, `items` (a whole number), `sign` (1 or
 * -1) and `amount`. The result has `key`, `items` and `total`, the sum of the signed amounts in the stored form of an
 * amount, which sorts numerically. A total must not be negative.
 */
export function signedSums(dialect: Dialect, rows: string): string {
  if (dialect === "postgres") {
    return `SELECT key, CAST(SUM(items) AS BIGINT) AS items,
        LPAD(CAST(SUM(sign * CAST(amount AS NUMERIC)) AS TEXT), 78, '0') AS total
      FROM (${rows}) AS counted GROUP BY key`;
  }
  const starts = Array.from({ length: limbs }, (_, index) => 1 + firstDigits + index * limbDigits);
  const sums = [[1, firstDigits] as const, ...starts.map((start) => [start, limbDigits] as const)]
    .map(
      ([start, digits], index) =>
        `SUM(sign * CAST(SUBSTR(amount, ${String(start)}, ${String(digits)}) AS INTEGER)) AS limb${String(index)}`,
    )
    .join(", ");
  return `SELECT key, items, ${joinedLimbs()} AS total
    FROM (SELECT key, SUM(items) AS items, ${sums} FROM (${rows}) GROUP BY key)`;
}

/**
 * Joins the sums of limbs to one number of 78 digits, with carries. Because SQLite divides towards zero, every limb
 * borrows from the next higher one so that its sum cannot be negative.
 */
function joinedLimbs(): string {
  const base = 10 ** limbDigits;
  const lent = `${String(base)}${"0".repeat(limbDigits)}`;
  let carried = "0";
  const parts: string[] = [];
  for (let index = limbs; index > 0; index -= 1) {
    const borrows = index === limbs ? "" : ` - ${String(base)}`;
    const limb = `(limb${String(index)} + ${lent}${borrows} + ${carried})`;
    parts.unshift(`printf('%0${String(limbDigits)}d', ${limb} % ${String(base)})`);
    carried = `${limb} / ${String(base)}`;
  }
  parts.unshift(`printf('%0${String(firstDigits)}d', limb0 - ${String(base)} + ${carried})`);
  return parts.join(" || ");
}
