import { Defect } from "../../kernel/errors.ts";
import type { Dialect } from "./database.ts";

/** 78 digits are a limb of 6 and eight of 9: an integer of SQLite holds the sum of nine billion such limbs. */
const firstDigits = 6;
const limbDigits = 9;
const limbs = 8;

/**
 * The exact sum of an amount column as SQL, to be selected (`sumOfAmounts(…) AS total`) and read by `decodeSum`.
 * SQLite's own SUM of such numbers is a float.
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

/** The sum as it came back; 0 when there were no rows. */
export function decodeSum(stored: unknown): bigint {
  if (stored === null) return 0n;
  if (typeof stored !== "string") throw new Defect("a sum of amounts comes back as text");
  return stored
    .split(" ")
    .reduce((sum, limb) => sum * 10n ** BigInt(limbDigits) + BigInt(limb), 0n);
}

/**
 * A statement that adds rows up by a key and exactly: `rows` selects `key`, `items` (a whole number), `sign` (1 or -1)
 * and `amount`. It gives `key`, `items`, and the sum of the signed amounts as `total`: in the form of a stored amount,
 * so that it sorts as it counts. A total is never below zero.
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
 * Sums of limbs as one number of 78 digits, carries passed on. A limb's sum may be below zero: each lends the one after
 * it so much that it is not, since SQLite divides towards zero.
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
