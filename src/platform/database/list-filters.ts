import type { Instant } from "../../kernel/clock.ts";
import { idFloor, type IdKind } from "../../kernel/id.ts";
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
import type { Reader } from "./database.ts";
import type { SqlValue } from "./table.ts";

// --- bounds of time -----------------------------------------------------------------------------------------------

/** The bounds from a value on and before another; undefined bounds nothing. */
export function boundsBetween(from: SqlValue | undefined, before: SqlValue | undefined): Bound[] {
  return [
    ...(from === undefined ? [] : [{ comparison: ">=", value: from } as const]),
    ...(before === undefined ? [] : [{ comparison: "<", value: before } as const]),
  ];
}

/** Bounds of the id for a time of creation: ids sort by time. */
export function createdBounds(
  kind: IdKind,
  {
    createdFrom,
    createdTo,
  }: {
    readonly createdFrom?: Instant | undefined;
    readonly createdTo?: Instant | undefined;
  },
): Bound[] {
  const floor = (time: Instant | undefined) =>
    time === undefined ? undefined : idFloor(kind, time);
  return boundsBetween(floor(createdFrom), floor(createdTo));
}

/** The newest ids of a table within bounds of the id: one more than a page examines. */
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
 * A column as no index has it. Conditions that are checked row by row must not tempt the database away from the index
 * that has the order: it would sort everything that another index finds.
 */
export const unindexed = (column: string) => `(one.${column} || '')`;

/** The same for a column of numbers. */
export const unindexedNumber = (column: string) => `(one.${column} + 0)`;

/** The condition that an expression has a value. */
export function equals(expression: string, value: SqlValue): Condition {
  return (bind) => `${expression} = ${bind(value)}`;
}

/** Bounds of an expression that the walk's index does not have. */
export function checkedBounds(expression: string, bounds: readonly Bound[]): Condition[] {
  return bounds.map(
    ({ comparison, value }) =>
      (bind) =>
        `${expression} ${comparison} ${bind(value)}`,
  );
}

// --- filters on the columns of a facet ----------------------------------------------------------------------------

/** The values that a list is narrowed to, for each column of a facet in the facet's order; null leaves all. */
export type FacetFilter = readonly (readonly [
  column: string,
  accepted: readonly string[] | null | undefined,
])[];

/** The same filters as conditions on a row. */
export function facetConditions(filter: FacetFilter): Condition[] {
  return filter.flatMap(([column, accepted]): Condition[] =>
    accepted == null
      ? []
      : [
          (bind) =>
            `one.${column} IN (${accepted.map((value) => bind(value)).join(", ") || "NULL"})`,
        ],
  );
}

/**
 * The span of a walk that merges the facets which a filter leaves; null where the rows have more facets than a walk
 * merges.
 */
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

/** The rows that filters leave which the walk's index does not serve. */
export interface Narrowed {
  /** Their ids where one of the filters finds few; null where each finds many. */
  readonly ids: readonly string[] | null;
  /** The filters that find many. */
  readonly conditions: readonly Condition[];
}

/** Collects filters: those that find few rows by their ids, the others as conditions. */
export interface Narrowing {
  /** Leaves only these rows. */
  only(ids: readonly string[]): void;
  /** Leaves only rows that meet the conditions. */
  check(...conditions: readonly Condition[]): void;
  /** Leaves only the rows that a statement found; where it found more than `examinedMax`, it checks each row. */
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
