import type { Clock } from "../../../kernel/clock.ts";
import { Defect } from "../../../kernel/errors.ts";
import {
  systemContext,
  type Database,
  type Dialect,
  type RawRow,
  type Reader,
  type WriteContext,
} from "../database.ts";
import { givenValues } from "../query/json-rows.ts";
import { openForReading, type ReadOnlyDatabase } from "../open.ts";
import { columnTypes, type SqlValue } from "../schema/table.ts";
import { schemaVersions, type Migration } from "../schema/migrate.ts";
import { migrations } from "../schema/migrations/index.ts";

/** A table as it exists in a store of some migration level. */
export interface TableShape {
  readonly name: string;
  /** Column names in the order of the table. */
  readonly columns: readonly string[];
  /** The columns of the primary key. */
  readonly key: readonly string[];
}

/** A table in one database. */
interface StoredShape extends TableShape {
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
  sqlite: `SELECT name AS "name", type AS "type", pk AS "position" FROM pragma_table_info($1) ORDER BY cid`,
  postgres: `SELECT CAST(attname AS text) AS "name", format_type(atttypid, NULL) AS "type",
      coalesce(array_position(CAST(indkey AS smallint[]), attnum) + 1, 0) AS "position"
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
    const found = await reader.all<{ name: string; type: string; position: number }>(
      columnsOf[reader.dialect],
      [name],
    );
    const key = found
      .filter(({ position }) => position > 0)
      .sort((one, other) => one.position - other.position)
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
  const after = `WHERE (${keys}) > (${key.map((_name, index) => `$${String(index + 1)}`).join(", ")})`;
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
async function insertPart(
  db: Database,
  context: WriteContext,
  { name, types }: StoredShape,
  columns: readonly string[],
  text: string,
): Promise<void> {
  const fields = columns.map((column, index) => {
    const field = `value ->> ${String(index)}`;
    return db.dialect === "postgres" ? `CAST(${field} AS ${types[column] ?? ""})` : field;
  });
  const sql = `INSERT INTO ${name} (${columns.join(", ")})
    SELECT ${fields.join(", ")} FROM ${givenValues(db.dialect, 1)}`;
  await db.write(context, (tx) => tx.run(sql, [text]));
}

/**
 * Opens a store for reading one snapshot of it: everything that was acknowledged before, and nothing later. Writers are
 * not blocked, except migrations of PostgreSQL, which wait until it is closed.
 * @throws as `openForReading`
 */
export async function openSnapshot(
  location: { readonly url: string } | { readonly sqliteFile: string },
): Promise<ReadOnlyDatabase> {
  const db = await openForReading(location);
  try {
    await db.holdSnapshot();
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}

const context = systemContext("restore");

/**
 * Fills an empty store with the rows of another one of the same migration level, on either database.
 * @throws Defect if the tables differ from those that the migrations create
 */
export async function fillStore(
  db: Database,
  clock: Clock,
  level: number,
  content: {
    readonly tables: readonly TableShape[];
    readonly parts: AsyncIterable<Pick<TablePart, "table" | "text">>;
  },
): Promise<void> {
  const { applyMigrations } = await import("../schema/apply-migrations.ts");
  await applyMigrations(
    db,
    clock,
    migrations.filter(({ version }) => version <= level),
  );
  const shapes = new Map<string, StoredShape>();
  for (const shape of await shapesOf(db, tablesAt(level))) shapes.set(shape.name, shape);
  requireSameTables(content.tables, shapes);
  // Migrations leave rows, such as their own versions.
  await db.write(context, async (tx) => {
    for (const name of [...shapes.keys()].reverse()) await tx.run(`DELETE FROM ${name}`);
  });
  const columns = new Map(content.tables.map((table) => [table.name, table.columns]));
  for await (const { table, text } of content.parts) {
    const shape = shapes.get(table);
    if (shape === undefined) throw new Defect(`rows of the unknown table ${table}`);
    await insertPart(db, context, shape, columns.get(table) ?? [], text);
  }
}

function requireSameTables(
  given: readonly TableShape[],
  shapes: ReadonlyMap<string, StoredShape>,
): void {
  const sorted = (tables: Iterable<TableShape>) =>
    [...tables]
      .map(({ name, columns }) => `${name} (${[...columns].sort().join(", ")})`)
      .sort()
      .join("\n");
  if (sorted(given) === sorted(shapes.values())) return;
  throw new Defect("the tables of the backup are not those of its migration level");
}
