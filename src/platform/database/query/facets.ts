import type { Reader } from "../database.ts";
import { text, type SqlValue } from "../schema/table.ts";
import { givenRows } from "./json-rows.ts";

/** Binds a value to the statement and returns its placeholder. */
type Bind = (value: SqlValue) => string;

/** A condition on a row; the statement's alias for it is `one`. */
export type Condition = (bind: Bind) => string;

/** The values of a row in the columns of a walk's order. */
export type Key = readonly SqlValue[];

/**
 * A walk along an index whose columns are, in this order: those of `scope`, the facet, and those of `order`. A facet is
 * an expression that concatenates columns with few distinct values (a status, a network, …). One such index serves
 * every combination of filters on them: the matching facets are walked in parallel and merged.
 */
export interface Walk {
  readonly table: string;
  /** Columns with a fixed value each. */
  readonly scope: readonly (readonly [column: string, value: SqlValue])[];
  /** The SQL expression, exactly as in the index; null for an index without a facet. */
  readonly facet: string | null;
  /** The condition of a partial index. */
  readonly where?: string;
  /** The last column is the id. */
  readonly order: readonly string[];
  readonly direction: "ASC" | "DESC";
}

/** The maximum number of facets that a walk merges. */
export const facetsMax = 1_000;

/** All texts from the first, inclusive, to the second, exclusive. */
type TextRange = readonly [from: string, before: string];

/**
 * The maximum number of rows that a page examines if no single index serves all of its filters. A filter that matches
 * fewer rows is answered exactly; if each of several filters matches more, the page may be short and its cursor
 * continues the search.
 */
export const examinedMax = 250;

/** The range of all facets. */
export const everyFacet: TextRange = ["", "\u{10ffff}"];

/** Returns the range of texts with a prefix, by bytes; unlike LIKE it needs no escaping. */
export function startingWith(prefix: string): TextRange {
  return [prefix, `${prefix}\u{10ffff}`];
}

const rangeRows = givenRows("given", { lower: text(), upper: text() });

/**
 * Returns the facets that occur within ranges; null if there are more than `facetsMax`. It skips through the index from
 * one facet to the next, so its cost depends on the number of facets, not of rows.
 */
export async function facetsOf(
  reader: Reader,
  walk: Walk & { readonly facet: string },
  ranges: readonly TextRange[],
): Promise<readonly string[] | null> {
  const { values, bind } = binder([
    rangeRows.values(ranges.map(([lower, upper]) => ({ lower, upper }))),
  ]);
  const { facet, table } = walk;
  const fixed = fixedConditions(walk, bind);
  const next = (lower: string, upper: string) =>
    `(SELECT ${facet} FROM ${table} AS one
      WHERE ${[...fixed, `${facet} ${lower}`, `${facet} < ${upper}`].join(" AND ")}
      ORDER BY ${facet} LIMIT 1)`;
  const rows = await reader.all<{ facet: string }>(
    `WITH RECURSIVE seen (upper, facet) AS (
       SELECT given.upper, ${next(">= given.lower", "given.upper")} FROM ${rangeRows.from(reader.dialect, 1)}
       UNION ALL
       SELECT seen.upper, ${next("> seen.facet", "seen.upper")} FROM seen WHERE seen.facet IS NOT NULL
     ) SELECT facet FROM seen WHERE facet IS NOT NULL LIMIT ${String(facetsMax + 1)}`,
    values,
  );
  return rows.length > facetsMax ? null : rows.map((row) => row.facet);
}

export interface Bound {
  readonly comparison: ">=" | "<";
  readonly value: SqlValue;
}

/** The part of a walk to read. */
export interface Span {
  /** The facets to merge; null for a walk without a facet. */
  readonly facets: readonly string[] | null;
  /** The key after which the rows start; null for the beginning. */
  readonly after: Key | null;
  /** Bounds on the first column of the order, which the index serves. */
  readonly bounds: readonly Bound[];
  /** Conditions that are checked on each row. */
  readonly conditions: readonly Condition[];
  /** The number of rows to find. */
  readonly fetch: number;
}

/** The keys that were found, in order. */
export interface Found {
  readonly keys: readonly Key[];
  /** The last key that was examined, after which the walk continues; null if it reached the end. */
  readonly resumeAt: Key | null;
}

/**
 * Finds rows along a walk. If conditions must be checked row by row, it examines at most `examinedMax` rows and returns
 * where to continue, so that no combination of filters reads the whole table for one page.
 */
export async function findAlong(reader: Reader, walk: Walk, span: Span): Promise<Found> {
  const count = span.facets?.length ?? 1;
  if (count === 0) return { keys: [], resumeAt: null };
  if (span.conditions.length === 0) {
    return { keys: await mergedKeys(reader, walk, span, null), resumeAt: null };
  }
  // Determines the last row to examine in each facet; the earliest of them in the walk ends the search in all.
  const each = Math.max(1, Math.floor(examinedMax / count));
  const [edge = null] = await mergedKeys(
    reader,
    walk,
    { ...span, conditions: [], fetch: 1 },
    null,
    each - 1,
  );
  const keys = await mergedKeys(reader, walk, span, edge === null ? null : { key: edge, each });
  return { keys, resumeAt: edge };
}

/** `findAlong` for facets with few rows, such as ids: all of their rows may be examined. */
export async function everyAlong(reader: Reader, walk: Walk, span: Span): Promise<Found> {
  return { keys: await mergedKeys(reader, walk, span, null), resumeAt: null };
}

/** The end of a search: the last key to examine, up to which each facet has at most `each` rows. */
interface Edge {
  readonly key: Key;
  readonly each: number;
}

/** Returns the first keys of all facets, merged. */
async function mergedKeys(
  reader: Reader,
  walk: Walk,
  { facets, after, bounds, conditions, fetch }: Span,
  upTo: Edge | null,
  offset = 0,
): Promise<Key[]> {
  const { table, facet, order, direction } = walk;
  const { values, bind } = binder(facets === null ? [] : [JSON.stringify(facets)]);
  const forward = direction === "ASC" ? ">" : "<";
  const backward = direction === "ASC" ? "<=" : ">=";
  // PostgreSQL assumes that all facets are equally frequent, and for a rare one would choose an index without the
  // facet. Bounds on facet and order together leave it only the walk's index.
  const isPair = reader.dialect === "postgres" && facets !== null && facet !== null;
  const compared = (columns: readonly string[], comparison: string, key: Key) => {
    const left = columns.map((column) => `one.${column}`);
    const right = key.map((value) => bind(value));
    return isPair
      ? `(${[facet, ...left].join(", ")}) ${comparison} (${["probe.value", ...right].join(", ")})`
      : left.length === 1
        ? `${left.join()} ${comparison} ${right.join()}`
        : `(${left.join(", ")}) ${comparison} (${right.join(", ")})`;
  };
  const along = [
    ...fixedConditions(walk, bind),
    ...(facets === null || facet === null
      ? []
      : isPair
        ? [`${facet} >= probe.value AND ${facet} <= probe.value`]
        : [`${facet} = probe.value`]),
    ...(after === null ? [] : [compared(order, forward, after)]),
    ...bounds.map(({ comparison, value }) => compared(order.slice(0, 1), comparison, [value])),
  ];
  const checked = [
    ...(upTo === null ? [] : [compared(order, backward, upTo.key)]),
    ...conditions.map((condition) => condition(bind)),
  ];
  const list = (alias: string, suffix = "") =>
    order.map((column) => `${alias}.${column}${suffix}`).join(", ");
  const first = isPair ? `${facet} ${direction}, ` : "";
  const ordered = `ORDER BY ${first}${list("one", ` ${direction}`)}`;
  const allOf = (list: readonly string[]) => list.join(" AND ") || "1 = 1";
  // PostgreSQL does not stop an index scan at the end of a row comparison, and would read the rest of the walk.
  const isCompared = isPair || (reader.dialect === "postgres" && order.length > 1);
  const isLimited = isCompared && upTo !== null;
  const from = isLimited
    ? `(SELECT one.* FROM ${table} AS one WHERE ${allOf(along)} ${ordered} LIMIT ${bind(upTo.each)}) AS one`
    : `${table} AS one`;
  const where = isLimited ? checked : [...along, ...checked];
  const inner = (columns: string) =>
    `SELECT ${columns} FROM ${from} WHERE ${allOf(where)}
     ${ordered} LIMIT ${bind(fetch)} OFFSET ${bind(offset)}`;
  const merged = (from: string) =>
    `SELECT ${list("found")} FROM ${from} ORDER BY ${list("found", ` ${direction}`)} LIMIT ${bind(fetch)}`;
  const sql =
    facets === null
      ? inner(list("one"))
      : reader.dialect === "sqlite"
        ? merged(
            `json_each($1) AS probe CROSS JOIN ${table} AS found ON found.id IN (${inner("one.id")})`,
          )
        : merged(
            `json_array_elements_text(CAST($1 AS json)) AS probe (value) CROSS JOIN LATERAL (${inner(list("one"))}) AS found`,
          );
  const rows = await reader.all<Record<string, SqlValue>>(sql, values);
  return rows.map((row) => order.map((column) => row[column] ?? null));
}

function fixedConditions({ scope, where }: Walk, bind: Bind): string[] {
  const conditions = scope.map(([column, value]) => `one.${column} = ${bind(value)}`);
  return where === undefined ? conditions : [...conditions, where];
}

function binder(first: readonly SqlValue[]): { values: SqlValue[]; bind: Bind } {
  const values = [...first];
  return { values, bind: (value) => `$${String(values.push(value))}` };
}
