import type { Reader } from "./database.ts";
import { givenRows } from "./json-rows.ts";
import type { SqlValue } from "./table.ts";

/** Binds a value to the statement and gives its placeholder. */
export type Bind = (value: SqlValue) => string;

/** A condition on a row, which the statement calls `one`. */
export type Condition = (bind: Bind) => string;

/** A row's values in the columns of a walk's order. */
export type Key = readonly SqlValue[];

/**
 * A walk along an index whose columns are, in this order: those of `scope`, the facet, and those of `order`. A facet is
 * an expression that joins the columns of few values (a status, a network, …), so that one index serves every
 * combination of filters on them: the facets that a filter leaves are walked side by side and merged.
 */
export interface Walk {
  readonly table: string;
  /** Columns with the one value that each has. */
  readonly scope: readonly (readonly [column: string, value: SqlValue])[];
  /** In SQL, exactly as the index has it; null for an index without one. */
  readonly facet: string | null;
  /** The condition of a partial index. */
  readonly where?: string;
  /** The last is the id. */
  readonly order: readonly string[];
  readonly direction: "ASC" | "DESC";
}

/** Facets that one walk merges at most. */
export const facetsMax = 1_000;

/** Every text from the first on that sorts before the second. */
export type TextRange = readonly [from: string, before: string];

/**
 * Rows that a page examines at most, where its filters are not all served by one index. A filter that finds fewer is
 * answered exactly; where each of several finds more, the page may be short and its cursor goes on.
 */
export const examinedMax = 250;

/** A range that holds every facet. */
export const everyFacet: TextRange = ["", "\u{10ffff}"];

/** The texts that start with a prefix, by bytes; it needs no escaping, unlike LIKE. */
export function startingWith(prefix: string): TextRange {
  return [prefix, `${prefix}\u{10ffff}`];
}

/**
 * The facets that a walk's rows have, within ranges; null where there are more than `facetsMax`. It jumps from one facet
 * to the next through the index, so it costs by the number of facets and not of rows.
 */
export async function facetsOf(
  reader: Reader,
  walk: Walk & { readonly facet: string },
  ranges: readonly TextRange[],
): Promise<readonly string[] | null> {
  const { values, bind } = binder([JSON.stringify(ranges)]);
  const { facet, table } = walk;
  const fixed = fixedConditions(walk, bind);
  const next = (lower: string, upper: string) =>
    `(SELECT ${facet} FROM ${table} AS one
      WHERE ${[...fixed, `${facet} ${lower}`, `${facet} < ${upper}`].join(" AND ")}
      ORDER BY ${facet} LIMIT 1)`;
  const rows = await reader.all<{ facet: string }>(
    `WITH RECURSIVE seen (upper, facet) AS (
       SELECT given.value ->> 1, ${next(">= given.value ->> 0", "given.value ->> 1")} FROM ${givenRows[reader.dialect]}
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

/** The rows of a walk that are asked for. */
export interface Span {
  /** To be merged; null for a walk without facets. */
  readonly facets: readonly string[] | null;
  /** They come after this key. */
  readonly after: Key | null;
  /** Bounds of the first column of the order, which the index serves. */
  readonly bounds: readonly Bound[];
  /** Conditions that each row is looked up for. */
  readonly conditions: readonly Condition[];
  /** Rows to find. */
  readonly fetch: number;
}

/** The keys that were found, in order. */
export interface Found {
  readonly keys: readonly Key[];
  /** The last key that was examined, where the walk goes on behind it: null where it was seen to its end. */
  readonly resumeAt: Key | null;
}

/**
 * Finds rows along a walk. Where conditions have to be checked row by row, it examines at most `examinedMax` rows, and
 * says where to go on: no combination of filters reads the whole table for one page.
 */
export async function findAlong(reader: Reader, walk: Walk, span: Span): Promise<Found> {
  const count = span.facets?.length ?? 1;
  if (count === 0) return { keys: [], resumeAt: null };
  if (span.conditions.length === 0) {
    return { keys: await mergedKeys(reader, walk, span, null), resumeAt: null };
  }
  // The last row that each facet may be examined to; the first of these in the walk ends the search of all.
  const each = Math.max(1, Math.floor(examinedMax / count));
  const [edge = null] = await mergedKeys(
    reader,
    walk,
    { ...span, conditions: [], fetch: 1 },
    null,
    each - 1,
  );
  const keys = await mergedKeys(reader, walk, span, edge);
  return { keys, resumeAt: edge };
}

/** The same for facets that have few rows, such as ids: all of these may be examined. */
export async function everyAlong(reader: Reader, walk: Walk, span: Span): Promise<Found> {
  return { keys: await mergedKeys(reader, walk, span, null), resumeAt: null };
}

/** The first keys of every facet, merged; `upTo` is the last key that is looked at. */
async function mergedKeys(
  reader: Reader,
  walk: Walk,
  { facets, after, bounds, conditions, fetch }: Span,
  upTo: Key | null,
  offset = 0,
): Promise<Key[]> {
  const { table, facet, order, direction } = walk;
  const { values, bind } = binder(facets === null ? [] : [JSON.stringify(facets)]);
  const forward = direction === "ASC" ? ">" : "<";
  const backward = direction === "ASC" ? "<=" : ">=";
  // PostgreSQL counts on a facet being as frequent as any, and would walk an index without it for a rare one. Bounds
  // of the facet and the order together leave it no other index than the walk's.
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
  const where = [
    ...fixedConditions(walk, bind),
    ...(facets === null || facet === null
      ? []
      : isPair
        ? [`${facet} >= probe.value AND ${facet} <= probe.value`]
        : [`${facet} = probe.value`]),
    ...(after === null ? [] : [compared(order, forward, after)]),
    ...(upTo === null ? [] : [compared(order, backward, upTo)]),
    ...bounds.map(({ comparison, value }) => compared(order.slice(0, 1), comparison, [value])),
    ...conditions.map((condition) => condition(bind)),
  ];
  const list = (alias: string, suffix = "") =>
    order.map((column) => `${alias}.${column}${suffix}`).join(", ");
  const first = isPair ? `${facet} ${direction}, ` : "";
  const inner = (columns: string) =>
    `SELECT ${columns} FROM ${table} AS one WHERE ${where.join(" AND ") || "1 = 1"}
     ORDER BY ${first}${list("one", ` ${direction}`)} LIMIT ${bind(fetch)} OFFSET ${bind(offset)}`;
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
