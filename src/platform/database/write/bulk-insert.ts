import type { Dialect } from "../database.ts";
import { insertJsonStatement } from "../schema/many-rows.ts";
import { insertRowsStatement } from "../schema/statements.ts";
import type { Session } from "../query/statement.ts";
import { declarationOrder, type SqlValue, type Table } from "../schema/table.ts";

/** Encoded rows by table, with values in the order of the table's columns. */
export type EncodedRows = Map<Table, SqlValue[][]>;

/**
 * The numbers of rows per INSERT on SQLite, besides every number up to the smallest: only these few, because every
 * number needs a prepared statement of its own, but enough for one statement per table in most commits.
 */
const sqliteRows = [64, 32, 16];
/** The maximum number of rows per INSERT on PostgreSQL, which limits the size of its single parameter. */
const postgresRows = 1_000;

/** Appends rows to those of a table. */
export function addRows(to: EncodedRows, table: Table, rows: readonly SqlValue[][]): void {
  const there = to.get(table);
  if (there === undefined) to.set(table, [...rows]);
  else there.push(...rows);
}

/** Inserts all rows with few statements, tables in the order of their declaration. */
export async function insertRows(
  dialect: Dialect,
  session: Session,
  rows: EncodedRows,
): Promise<void> {
  // A table is declared after those that it references.
  const tables = [...rows].sort(
    ([left], [right]) => declarationOrder(left) - declarationOrder(right),
  );
  if (dialect === "postgres") await insertInPostgres(session, tables);
  else for (const [table, its] of tables) await insertInSqlite(session, table, its);
}

async function insertInSqlite(
  session: Session,
  table: Table,
  rows: readonly SqlValue[][],
): Promise<void> {
  let start = 0;
  while (start < rows.length) {
    const left = rows.length - start;
    const count = sqliteRows.find((size) => size <= left) ?? left;
    const sql = insertRowsStatement(table, count);
    await session.run(sql, rows.slice(start, start + count).flat());
    start += count;
  }
}

async function insertInPostgres(
  session: Session,
  tables: readonly (readonly [Table, readonly SqlValue[][]])[],
): Promise<void> {
  const longest = Math.max(0, ...tables.map(([, rows]) => rows.length));
  for (let start = 0; start < longest; start += postgresRows) {
    const chunks = tables.flatMap(([table, rows]) => {
      const chunk = rows.slice(start, start + postgresRows);
      return chunk.length === 0 ? [] : [{ table, json: JSON.stringify(chunk) }];
    });
    const sql = insertIntoAll(chunks.map(({ table }) => table));
    await session.run(
      sql,
      chunks.map(({ json }) => json),
    );
  }
}

const texts = new Map<string, string>();

/** Combines the inserts into several tables in one statement, to save round trips. */
function insertIntoAll(tables: readonly Table[]): string {
  const key = tables.map(({ name }) => name).join();
  let sql = texts.get(key);
  if (sql === undefined) {
    const inserts = tables.map((table, index) => insertJsonStatement(table, index + 1));
    const last = inserts.pop() ?? "";
    const others = inserts.map((insert, index) => `part_${String(index)} AS (${insert})`);
    sql = others.length === 0 ? last : `WITH ${others.join(", ")} ${last}`;
    texts.set(key, sql);
  }
  return sql;
}
