import type { Config } from "../../platform/config/config.ts";
import { currentVersion } from "../../platform/database/schema/migrate.ts";
import { openForReading } from "../../platform/database/open.ts";
import type { Reader } from "../../platform/database/database.ts";
import { statementsOf, tablesAt } from "../../platform/database/transfer/rows.ts";
import { noStore, requireStoreFile } from "../store-location.ts";
import { addressOfStore } from "./fill.ts";

/** A pending migration, and what it touches. */
interface PlannedMigration {
  readonly version: number;
  readonly name: string;
  /** Existing tables that its statements name. */
  readonly tables: readonly string[];
  /** The rows of these tables. */
  readonly rows: number;
}

interface MigrationPlan {
  /** The current migration level. */
  readonly from: number;
  readonly steps: readonly PlannedMigration[];
  readonly backsUp: boolean;
  /** An estimate of the whole duration, rounded up. */
  readonly seconds: number;
}

/** Rows per second of a statement of a migration, such as an index. A rough figure: machines and statements differ. */
const statementRowsPerSecond = 200_000;
/** Rows per second of a backup without a trial restore, as measured in docs/performance.md and rounded down. */
const backupRowsPerSecond = 20_000;

/** Returns what a migration would do. Reads the store only. @throws if there is no store, or a newer one */
export async function planMigration(config: Config): Promise<MigrationPlan> {
  await requireStoreFile(config);
  const store = await openForReading(addressOfStore(config));
  try {
    const from = await currentVersion(store);
    if (from === 0) throw noStore(config);
    const counts = await countRows(store, tablesAt(from));
    let work = 0;
    const steps = store.pending.map((migration): PlannedMigration => {
      const statements = statementsOf(migration).map((text) => new Set(text.match(/\w+/g)));
      const touched = [...counts].filter(([table]) => statements.some((words) => words.has(table)));
      for (const words of statements) {
        for (const [table, rows] of counts) if (words.has(table)) work += rows;
      }
      const rows = touched.reduce((sum, [, count]) => sum + count, 0);
      // Its rows are read once more.
      if (migration.fill !== undefined)
        work += [...counts.values()].reduce((one, two) => one + two, 0);
      const { version, name } = migration;
      return { version, name, tables: touched.map(([table]) => table), rows };
    });
    const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const backsUp = steps.length > 0 && config.backupBeforeMigration;
    const backupSeconds = backsUp ? all / backupRowsPerSecond : 0;
    const seconds = Math.ceil(backupSeconds + work / statementRowsPerSecond);
    return { from, steps, backsUp, seconds: steps.length === 0 ? 0 : Math.max(1, seconds) };
  } finally {
    await store.close();
  }
}

async function countRows(reader: Reader, tables: readonly string[]) {
  const counts = new Map<string, number>();
  for (const table of tables) {
    const [row] = await reader.all<{ total: number }>(`SELECT COUNT(*) AS "total" FROM ${table}`);
    counts.set(table, row?.total ?? 0);
  }
  return counts;
}
