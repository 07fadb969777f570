import { invalidField } from "../../kernel/errors.ts";
import type { Key } from "./facets.ts";
import { amountDigits, encodeAmount, type SqlValue } from "./table.ts";

/** The order of a list: by id, which sorts by time of creation, or by another column and then by id. */
export interface ListOrder {
  /** The last is the id. */
  readonly columns: readonly string[];
  /** Encodes the value of the first column for a statement; absent where the list is by id alone. */
  readonly encode?: (value: bigint) => SqlValue;
  /** The digits of the largest value that the column can hold. */
  readonly digitsMax?: number;
}

/** A number keeps every integer of so many digits exactly, and no time has more. */
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

/** The direction of a sort: `-` is descending. */
export function directionOf(sort: string): "ASC" | "DESC" {
  return sort.startsWith("-") ? "DESC" : "ASC";
}

/** The field of a sort, without its direction. */
export function fieldOf<F extends string>(sort: F | `-${F}`): F {
  return sort.replace("-", "") as F;
}

/** The position of a row in a list, for a cursor: its id, behind its value where the list is by another column. */
export function positionOf(order: ListOrder, value: bigint | number | null, id: string): string {
  return order.encode === undefined ? id : `${String(value ?? 0)}.${id}`;
}

/** The same of a key of the order. */
export function positionOfKey(order: ListOrder, key: Key): string {
  return positionOf(
    order,
    BigInt(order.encode === undefined ? 0 : (key[0] ?? 0)),
    String(key.at(-1)),
  );
}

/** The key at a position. Refuses a position that this order did not give: a 400 that names the cursor. */
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
