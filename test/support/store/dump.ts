import type { Database } from "../../../src/platform/database/database.ts";

const tableNames = {
  sqlite: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  postgres: "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
} as const;

/** Returns the names of all tables of a store. */
export async function tableNamesOf(db: Database): Promise<readonly string[]> {
  const rows = await db.all<{ name: string }>(tableNames[db.dialect]);
  return rows.map(({ name }) => name).sort();
}

/** Returns all values of all tables as one text, to search for values that must not be stored. */
export async function dumpStore(db: Database): Promise<string> {
  const parts: string[] = [];
  for (const name of await tableNamesOf(db)) {
    parts.push(JSON.stringify(await db.all(`SELECT * FROM ${name}`)));
  }
  return parts.join("\n");
}

/** Returns the number of rows in a table that meet a condition. */
export async function countRows(
  db: Database,
  table: string,
  where = "",
  values: readonly (string | number)[] = [],
): Promise<number> {
  const [row] = await db.all<{ n: number }>(
    `SELECT COUNT(*) AS "n" FROM ${table} ${where}`,
    values,
  );
  return row?.n ?? 0;
}
