import type { Instant } from "../../../kernel/clock.ts";
import { idFloor, type IdKind } from "../../../kernel/id.ts";
import {
  everyFacet,
  examinedMax,
  facetsOf,
  findAlong,
  startingWith,
  type Bound,
  type Condition,
  type Span,
  type Walk,
} from "./facets.ts";
import type { Reader } from "../database.ts";
import type { SqlValue } from "../schema/table.ts";

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
    return filter.every(([, accepted], place) => accepted?.includes(parts[place] ?? "") ?? true);
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
export interface Narrowing {
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
