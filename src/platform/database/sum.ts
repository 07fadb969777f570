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
