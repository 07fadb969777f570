import { invalidField } from "../../../kernel/errors.ts";
import type { Key } from "./facets.ts";
import { amountDigits, encodeAmount, type SqlValue } from "../schema/table.ts";

/** The order of a list: by id, which is the order of creation, or by another column and then by id. */
export interface ListOrder {
  /** The last column is the id. */
  readonly columns: readonly string[];
  /** Encodes a value of the first column for a statement; absent if the order is by id alone. */
  readonly encode?: (value: bigint) => SqlValue;
  /** The maximum number of digits in the first column. */
  readonly digitsMax?: number;
}

/** The maximum number of digits of a time; a JavaScript number holds all such integers exactly. */
const timeDigits = 15;

/** The order by id. */
export const byId: ListOrder = { columns: ["id"] };
/** The order by a column of times. */
export const byTime = (column: string): ListOrder => ({
  columns: [column, "id"],
  encode: Number,
  digitsMax: timeDigits,
});
/** The order by a column of amounts. */
export const byAmount = (column: string): ListOrder => ({
  columns: [column, "id"],
  encode: encodeAmount,
  digitsMax: amountDigits,
});

/** Returns the direction of a sort parameter: `-` means descending. */
export function directionOf(sort: string): "ASC" | "DESC" {
  return sort.startsWith("-") ? "DESC" : "ASC";
}

/** Returns the field of a sort parameter. */
export function fieldOf<F extends string>(sort: F | `-${F}`): F {
  return sort.replace("-", "") as F;
}

/** Returns the cursor position of a row: its id, preceded by its value if the list is ordered by another column. */
export function positionOf(order: ListOrder, value: bigint | number | null, id: string): string {
  return order.encode === undefined ? id : `${String(value ?? 0)}.${id}`;
}

/** Returns the cursor position of a key. */
export function positionOfKey(order: ListOrder, key: Key): string {
  return positionOf(
    order,
    BigInt(order.encode === undefined ? 0 : (key[0] ?? 0)),
    String(key.at(-1)),
  );
}

/** Parses a cursor position. A position that this order did not create is a 400 problem that names the cursor. */
export function keyAt({ encode, digitsMax = 0 }: ListOrder, position: string): Key {
  if (encode === undefined) return [position];
  const [, value, id] = /^(\d+)\.([a-z]{3}_\w+)$/.exec(position) ?? [];
  if (value === undefined || id === undefined || value.length > digitsMax) {
    const message =
      "must be the nextCursor of this list with these filters; leave it out to start again";
    throw invalidField({ parameter: "cursor" }, "invalid_cursor", message);
  }
  return [encode(BigInt(value)), id];
}
