import type { Dialect } from "../database.ts";
import { skipLocked } from "../write/locks.ts";

/** Rows of a table that `firstOfEach` selects. */
interface FirstRows {
  /** The given rows, as in a FROM clause. */
  readonly given: string;
  /** A table with an `id`. */
  readonly table: string;
  /** The columns to select. */
  readonly columns: readonly string[];
  /** The condition on a row of the table, which is called `one` there. */
  readonly where: string;
  /** The columns by which the rows are ordered. */
  readonly order: readonly string[];
  readonly direction: "ASC" | "DESC";
  /** The number of rows for each given row: a constant, or a column of the given rows with its maximum. */
  readonly limit: number | { readonly column: string; readonly max: number };
  /** True to lock the rows until the transaction ends, and leave out those that another transaction has locked. */
  readonly isLocking?: boolean;
}

/** Returns SQL for a FROM clause that joins each given row with the first rows of a table for it, under a name. */
export function firstOfEach(dialect: Dialect, name: string, rows: FirstRows): string {
  const { given, table, columns, where, order, direction, limit, isLocking = false } = rows;
  const most = typeof limit === "number" ? limit : limit.max;
  const ordered = `ORDER BY ${order.map((column) => `one.${column} ${direction}`).join(", ")}`;
  const select = (of: readonly string[], max: number | string) =>
    `SELECT ${of.map((column) => `one.${column}`).join(", ")} FROM ${table} AS one WHERE ${where} ${ordered} LIMIT ${String(max)}`;
  if (dialect === "postgres") {
    const first = select(columns, typeof limit === "number" ? limit : limit.column);
    return `${given} CROSS JOIN LATERAL (${first}${isLocking ? skipLocked.postgres : ""}) AS ${name}`;
  }
  // SQLite has no LATERAL. It keeps the order of a CROSS JOIN, and finds the ids once for each given row.
  const ids =
    typeof limit === "number"
      ? select(["id"], most)
      : // A LIMIT of SQLite cannot refer to a column.
        `SELECT placed.id FROM (
           SELECT one.id, ROW_NUMBER() OVER (${ordered}) AS place FROM (${select([...new Set(["id", ...order])], most)}) AS one
         ) AS placed WHERE placed.place <= ${limit.column}`;
  return `${given} CROSS JOIN ${table} AS ${name} ON ${name}.id IN (${ids})`;
}
