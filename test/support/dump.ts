import { declaredTables, type Database } from "../../src/platform/database/index.ts";

/** Every value of every table as one text, to search for what must not be there. */
export async function dumpStore(db: Database): Promise<string> {
  const parts: string[] = [];
  for (const table of declaredTables()) {
    parts.push(JSON.stringify(await db.all(`SELECT * FROM ${table.name}`)));
  }
  return parts.join("\n");
}

/** How many rows a table has, of those that a condition names. */
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
