import type { Dialect } from "./database.ts";
import { insertJsonStatement, insertRowsStatement } from "./shape.ts";
import type { Session } from "./statement.ts";
import { declarationOrder, type SqlValue, type Table } from "./table.ts";

/** Rows in the order of their table's columns, ready to be bound, by table. */
export type EncodedRows = Map<Table, SqlValue[][]>;

/** Rows of one statement on SQLite, at most. A text for every number of rows would be too many texts to prepare. */
const sqliteRows = [64, 16, 4, 1];
/** Rows of one statement on PostgreSQL, at most: keeps its one parameter small. */
const postgresRows = 1_000;

/** Adds rows to a table, behind those that are there. */
export function addRows(to: EncodedRows, table: Table, rows: readonly SqlValue[][]): void {
  const there = to.get(table);
  if (there === undefined) to.set(table, [...rows]);
  else there.push(...rows);
}

/** Inserts all rows in as few statements as the database takes them, tables in the order of their declaration. */
export async function insertRows(
  dialect: Dialect,
  session: Session,
  rows: EncodedRows,
): Promise<void> {
  // A table is declared after those that it refers to.
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
  for (const count of sqliteRows) {
    const sql = insertRowsStatement(table, count);
    for (; rows.length - start >= count; start += count) {
      await session.run(sql, rows.slice(start, start + count).flat());
    }
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

/** One statement for several tables, since each costs a way to the server and back. */
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
