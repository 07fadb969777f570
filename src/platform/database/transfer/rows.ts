import { Defect } from "../../../kernel/errors.ts";
import type { Database, Dialect, RawRow, Reader, WriteContext } from "../database.ts";
import { givenValues } from "../query/json-rows.ts";
import { columnTypes } from "../schema/column-types.ts";
import { schemaVersions, type Migration } from "../schema/migrate.ts";
import { migrations } from "../schema/migrations/index.ts";
import type { SqlValue } from "../schema/table.ts";

/** A table as it exists in a store of some migration level. */
export interface TableShape {
  readonly name: string;
  /** Column names in the order of the table. */
  readonly columns: readonly string[];
  /** The columns of the primary key. */
  readonly key: readonly string[];
}

/** A table in one database. */
export interface StoredShape extends TableShape {
  /** The database's type of each column, by name. */
  readonly types: Readonly<Record<string, string>>;
}

/** Some rows of a table, in the order of its primary key. */
export interface TablePart {
  readonly table: string;
  /** A JSON array with one array of values per row: text, whole numbers and null, as both databases store them. */
  readonly text: string;
  readonly rows: number;
}

/** The size of a part that is aimed at, in characters. */
const partLength = 1_024 ** 2;
/**
 * The numbers of rows per query. Few different ones, because each is a statement of its own; constant in the statement,
 * because PostgreSQL would plan a bound LIMIT for a tenth of the table.
 */
const steps = [10, 100, 1_000];

/**
 * Returns the tables that the migrations up to a level create, each after those that it references. The database's own
 * catalogue may list tables that do not belong to Till.
 */
export function tablesAt(level: number): readonly string[] {
  const names = new Set<string>([schemaVersions.name]);
  for (const migration of migrations) {
    if (migration.version > level) break;
    for (const statement of statementsOf(migration)) {
      const [, verb, name] = /^(CREATE|DROP) TABLE (\w+)/.exec(statement) ?? [];
      if (name === undefined) continue;
      if (verb === "CREATE") names.add(name);
      else names.delete(name);
    }
  }
  return [...names];
}

/** Returns the statements of a migration, for what they have in common on both databases. */
export function statementsOf({ up }: Pick<Migration, "up">): readonly string[] {
  return up(columnTypes.sqlite, "sqlite");
}

const columnsOf: Readonly<Record<Dialect, string>> = {
  sqlite: `SELECT name AS "name", type AS "type", pk AS "place" FROM pragma_table_info($1) ORDER BY cid`,
  postgres: `SELECT CAST(attname AS text) AS "name", format_type(atttypid, NULL) AS "type",
      coalesce(array_position(CAST(indkey AS smallint[]), attnum) + 1, 0) AS "place"
    FROM pg_attribute LEFT JOIN pg_index ON indrelid = attrelid AND indisprimary
    WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
};

/** Returns the shapes of a store's tables. */
export async function shapesOf(
  reader: Reader,
  names: readonly string[],
): Promise<readonly StoredShape[]> {
  const shapes: StoredShape[] = [];
  for (const name of names) {
    const found = await reader.all<{ name: string; type: string; place: number }>(
      columnsOf[reader.dialect],
      [name],
    );
    const key = found
      .filter(({ place }) => place > 0)
      .sort((one, other) => one.place - other.place)
      .map((column) => column.name);
    if (key.length === 0) throw new Defect(`the store has no table ${name} with a primary key`);
    shapes.push({
      name,
      key,
      columns: found.map((column) => column.name),
      types: Object.fromEntries(found.map((column) => [column.name, column.type])),
    });
  }
  return shapes;
}

/** Reads all rows of some tables in parts of limited size, each table in the order of its primary key. */
export async function* readTables(
  reader: Reader,
  shapes: readonly TableShape[],
): AsyncGenerator<TablePart> {
  for (const shape of shapes) yield* readTable(reader, shape);
}

async function* readTable(
  reader: Reader,
  { name, columns, key }: TableShape,
): AsyncGenerator<TablePart> {
  const keys = key.join(", ");
  const select = `SELECT ${columns.join(", ")} FROM ${name}`;
  const after = `WHERE (${keys}) > (${key.map((_name, place) => `$${String(place + 1)}`).join(", ")})`;
  let [limit = 1] = steps;
  let last: RawRow | undefined;
  for (;;) {
    const rest = `ORDER BY ${keys} LIMIT ${String(limit)}`;
    const from = last;
    const rows: readonly RawRow[] =
      from === undefined
        ? await reader.all(`${select} ${rest}`)
        : await reader.all(
            `${select} ${after} ${rest}`,
            key.map((column) => from[column] as SqlValue),
          );
    if (rows.length > 0) {
      const lines = rows.map((row) => JSON.stringify(columns.map((column) => row[column])));
      const text = `[${lines.join(",\n")}]`;
      yield { table: name, text, rows: rows.length };
      const fitting = (partLength / text.length) * rows.length;
      last = rows.at(-1);
      if (rows.length < limit) return;
      limit = steps.findLast((step) => step <= fitting) ?? 1;
    } else return;
  }
}

/**
 * Inserts a part, in a transaction of its own.
 * @param columns the order of the values in the part
 */
export async function insertPart(
  db: Database,
  context: WriteContext,
  { name, types }: StoredShape,
  columns: readonly string[],
  text: string,
): Promise<void> {
  const fields = columns.map((column, place) => {
    const field = `value ->> ${String(place)}`;
    return db.dialect === "postgres" ? `CAST(${field} AS ${types[column] ?? ""})` : field;
  });
  const sql = `INSERT INTO ${name} (${columns.join(", ")})
    SELECT ${fields.join(", ")} FROM ${givenValues(db.dialect, 1)}`;
  await db.write(context, (tx) => tx.run(sql, [text]));
}
