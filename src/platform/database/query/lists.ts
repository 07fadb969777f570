import type { Instant } from "../../../kernel/clock.ts";
import { invalidField } from "../../../kernel/errors.ts";
import { idFloor, type Id, type IdKind } from "../../../kernel/id.ts";
import type { PageRequest } from "../../../kernel/page.ts";
import {
  everyFacet,
  examinedMax,
  facetsOf,
  findAlong,
  startingWith,
  type Bound,
  type Condition,
  type Key,
  type Span,
  type Walk,
} from "./facets.ts";
import type { Reader } from "../database.ts";
import { amountDigits, encodeAmount, type SqlValue } from "../schema/table.ts";

// --- bounds of time -----------------------------------------------------------------------------------------------

/** Returns bounds from a value, inclusive, to another, exclusive; undefined leaves that side open. */
function boundsBetween(from: SqlValue | undefined, before: SqlValue | undefined): Bound[] {
  return [
    ...(from === undefined ? [] : [{ comparison: ">=", value: from } as const]),
    ...(before === undefined ? [] : [{ comparison: "<", value: before } as const]),
  ];
}

/** The ranges of time of a list: each includes its start and excludes its end. */
export interface TimeFilters {
  readonly createdFrom?: Instant | undefined;
  readonly createdTo?: Instant | undefined;
  /** The payment's block time, or the time at which an invoice was paid. */
  readonly paidFrom?: Instant | undefined;
  readonly paidTo?: Instant | undefined;
}

/** Returns bounds on a column of payment times. */
export function paidBounds({ paidFrom, paidTo }: TimeFilters): Bound[] {
  return boundsBetween(paidFrom, paidTo);
}

/** Returns bounds on the id for a range of creation times: ids sort by time. */
export function createdBounds(kind: IdKind, { createdFrom, createdTo }: TimeFilters): Bound[] {
  const floor = (time: Instant | undefined) =>
    time === undefined ? undefined : idFloor(kind, time);
  return boundsBetween(floor(createdFrom), floor(createdTo));
}

/** Returns the newest ids within bounds, one more than a page examines. */
export async function idsWithin(
  reader: Reader,
  { table, scope }: Pick<Walk, "table" | "scope">,
  bounds: readonly Bound[],
): Promise<string[]> {
  const { keys } = await findAlong(
    reader,
    { table, scope, facet: null, order: ["id"], direction: "DESC" },
    { facets: null, after: null, bounds, conditions: [], fetch: examinedMax + 1 },
  );
  return keys.map(([id]) => String(id));
}

// --- conditions that each row is looked up for --------------------------------------------------------------------

/**
 * Returns an expression for a column that no index matches. A condition that is checked row by row must not make the
 * database leave the index that provides the order: it would sort all rows that the other index finds.
 */
export const unindexed = (column: string) => `(one.${column} || '')`;

/** `unindexed` for a column of numbers. */
export const unindexedNumber = (column: string) => `(one.${column} + 0)`;

/** Returns the condition that an expression equals a value. */
export function equals(expression: string, value: SqlValue): Condition {
  return (bind) => `${expression} = ${bind(value)}`;
}

/** Returns bounds on an expression that is not part of the walk's index. */
export function checkedBounds(expression: string, bounds: readonly Bound[]): Condition[] {
  return bounds.map(
    ({ comparison, value }) =>
      (bind) =>
        `${expression} ${comparison} ${bind(value)}`,
  );
}

// --- filters on the columns of a facet ----------------------------------------------------------------------------

/** The accepted values for each column of a facet, in the facet's order; null accepts all. */
export type FacetFilter = readonly (readonly [
  column: string,
  accepted: readonly string[] | null | undefined,
])[];

/** Returns the filters as conditions that are checked on each row. */
export function facetConditions(filter: FacetFilter): Condition[] {
  return filter.flatMap(([column, accepted]): Condition[] =>
    accepted == null
      ? []
      : [
          (bind) =>
            `${unindexed(column)} IN (${accepted.map((value) => bind(value)).join(", ") || "NULL"})`,
        ],
  );
}

/** Returns the span of a walk over the facets that match a filter; null if there are more than a walk merges. */
export async function alongFacets(
  reader: Reader,
  walk: Walk & { readonly facet: string },
  span: Span,
  filter: FacetFilter,
): Promise<Span | null> {
  const ranges = filter[0]?.[1]?.map((first) => startingWith(`${first} `)) ?? [everyFacet];
  const facets = await facetsOf(reader, walk, ranges);
  if (facets === null) return null;
  const left = facets.filter((facet) => {
    const parts = facet.split(" ");
    return filter.every(([, accepted], index) => accepted?.includes(parts[index] ?? "") ?? true);
  });
  return { ...span, facets: left };
}

// --- filters that another index serves ----------------------------------------------------------------------------

/** The result of filters that the walk's index does not serve. */
export interface Narrowed {
  /** The ids of the matching rows if one of the filters matches few; otherwise null. */
  readonly ids: readonly string[] | null;
  /** The filters that match many rows. */
  readonly conditions: readonly Condition[];
}

/** Collects filters: those that match few rows as ids, the others as conditions. */
interface Narrowing {
  /** Restricts the result to these rows. */
  only(ids: readonly string[]): void;
  /** Restricts the result to rows that meet the conditions. */
  check(...conditions: readonly Condition[]): void;
  /**
   * Restricts the result to the rows that were found or, if there are more than `examinedMax`, to rows that meet the
   * conditions.
   */
  onlyOrCheck(found: readonly string[], ...conditions: readonly Condition[]): void;
  readonly narrowed: Narrowed;
}

export function makeNarrowing(): Narrowing {
  let ids: readonly string[] | null = null;
  const conditions: Condition[] = [];
  const only = (found: readonly string[]) => {
    ids = ids === null ? found : ids.filter((id) => found.includes(id));
  };
  return {
    only,
    check: (...given) => void conditions.push(...given),
    onlyOrCheck(found, ...given) {
      if (found.length > examinedMax) conditions.push(...given);
      else only(found);
    },
    get narrowed() {
      return { ids, conditions };
    },
  };
}

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

/** A comparison without its right side (`status =`), and the value; undefined means no filter. */
export type Filter = readonly [comparison: string, value: SqlValue | undefined];

/** The owner of the rows of a list: an organization or, for the platform's operators, all. */
export type ListOwner = Id<"organization"> | "all";

/** Returns the organization whose rows a list has; undefined means no filter. */
export function organizationFilter(owner: ListOwner): Id<"organization"> | undefined {
  return owner === "all" ? undefined : owner;
}

/**
 * Returns the part of a list's statement after `FROM …`, newest first: the given filters, the position after which the
 * page starts, and a limit of one row more than the page. `id` is the ordering column, with its alias in a join.
 */
export function pageQuery(
  page: PageRequest,
  filters: readonly Filter[],
  id = "id",
): { readonly rest: string; readonly values: readonly SqlValue[] } {
  const values: SqlValue[] = [];
  const bound = (value: SqlValue) => `$${String(values.push(value))}`;
  const conditions: string[] = [];
  for (const [comparison, value] of [...filters, [`${id} <`, page.after ?? undefined] as const]) {
    if (value !== undefined) conditions.push(`${comparison} ${bound(value)}`);
  }
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")} `;
  return { rest: `${where}ORDER BY ${id} DESC LIMIT ${bound(page.fetch)}`, values };
}

/**
 * Yields the rows of a query batch by batch. `read` returns the first `size` rows after a position, in their order; the
 * first position is the empty text. A batch that is not full is the last one.
 */
export async function* batchesOf<Row>(
  size: number,
  read: (after: string) => Promise<readonly Row[]>,
  positionOf: (row: Row) => string,
): AsyncGenerator<readonly Row[]> {
  let after = "";
  for (;;) {
    const rows = await read(after);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    if (rows.length < size) return;
    after = positionOf(last);
  }
}
