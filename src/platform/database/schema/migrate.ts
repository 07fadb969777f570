import type { Dialect, Reader, Tx } from "../database.ts";
import { StoreTooNew, StoreTooOld } from "../errors.ts";
import { integer, table, text, time, type ColumnTypes, type Table } from "./table.ts";

/** One schema change. Migrations are numbered, go forward only, and never change once released. */
export interface Migration {
  readonly version: number;
  /** The first of the versions that it stands for; by default its own. */
  readonly since?: number;
  readonly name: string;
  /** Returns the statements in order, in the dialect's types. */
  readonly up: (types: ColumnTypes, dialect: Dialect) => readonly string[];
  /** Fills new tables from existing rows, after the statements. */
  readonly fill?: (tx: Tx) => Promise<void>;
}

/** The applied migrations. */
export const schemaVersions = table(
  "schema_versions",
  { version: integer(), name: text(), appliedAt: time() },
  { primaryKey: ["version"] },
);

/** The first version of Till whose stores and backups are taken over. */
export const oldestTill = "0.2";

/** The key of the PostgreSQL advisory lock during a migration: an arbitrary number. */
export const migrationLock = 7_184_552_001;

/** Returns the version of the newest applied migration; 0 for an empty store. */
export async function currentVersion(db: Reader): Promise<number> {
  return Math.max(0, ...(await appliedVersions(db)));
}

/**
 * Returns the migrations that are not applied yet, in order.
 * @throws StoreTooNew, or StoreTooOld if the store is from before the first of them
 */
export async function pendingMigrations(
  db: Reader,
  known: readonly Migration[],
): Promise<readonly Migration[]> {
  const applied = await appliedVersions(db);
  refuseOthers(applied, known);
  return known.filter(({ version }) => !applied.has(version));
}

/** Returns the versions of the applied migrations. */
export async function appliedVersions(db: Reader): Promise<ReadonlySet<number>> {
  if (!(await hasTable(db, schemaVersions))) return new Set();
  const rows = await db.find(schemaVersions, "ORDER BY version");
  return new Set(rows.map(({ version }) => version));
}

/** True if the store has the table; a store whose migration was interrupted lacks the later ones. */
export async function hasTable(db: Reader, { name }: Pick<Table, "name">): Promise<boolean> {
  const catalogue: Record<Dialect, string> = {
    sqlite: "SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = $1",
    postgres: "SELECT 1 AS found WHERE to_regclass($1) IS NOT NULL",
  };
  return (await db.all(catalogue[db.dialect], [name])).length > 0;
}

/** Refuses a store that this program cannot migrate. */
export function refuseOthers(applied: ReadonlySet<number>, known: readonly Migration[]): void {
  const [oldest = 0, newest = 0] = [known.at(0)?.version, known.at(-1)?.version];
  const store = Math.max(0, ...applied);
  if (store > newest) {
    throw new StoreTooNew(
      `The store has version ${String(store)} and this program knows versions up to ${String(newest)}. ` +
        "Start the newer program, or restore a backup from before the upgrade with it: till restore FILE --no-migrate.",
    );
  }
  if (store > 0 && store < oldest) {
    throw new StoreTooOld(
      `The store has version ${String(store)} and this program takes over stores from version ${String(oldest)} on. ` +
        `It is unchanged. Migrate it with Till ${oldestTill} first: till db migrate. Then start this program.`,
    );
  }
}
