import type { Clock } from "../../../kernel/clock.ts";
import { Defect } from "../../../kernel/errors.ts";
import type { Database } from "../database.ts";
import { migrations } from "../schema/migrations/index.ts";
import { systemContext } from "../system-context.ts";
import {
  insertPart,
  shapesOf,
  tablesAt,
  type TablePart,
  type StoredShape,
  type TableShape,
} from "./rows.ts";

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
