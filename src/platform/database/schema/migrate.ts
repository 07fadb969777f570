import { hour, type Clock } from "../../../kernel/clock.ts";
import { unwatched, type Progress } from "../../progress.ts";
import type { Database, Dialect, Reader, Tx } from "../database.ts";
import { StoreTooNew, StoreTooOld } from "../errors.ts";
import { integer, table, text, time, type Table } from "./table.ts";
import { columnTypes, type ColumnTypes } from "./column-types.ts";
import { systemContext } from "../system-context.ts";

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

/** The time limit of a migration, in milliseconds: it builds indexes over all existing rows. */
const writeMilliseconds = 6 * hour;
const context = { ...systemContext("migrations"), writeMilliseconds };

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

/**
 * Applies pending migrations and returns them. Each one commits together with its version row; several processes may
 * run this concurrently.
 * @throws StoreTooNew, StoreTooOld
 */
export async function applyMigrations(
  db: Database,
  clock: Clock,
  known: readonly Migration[],
  progress: Progress = unwatched,
): Promise<readonly Migration[]> {
  const applied: Migration[] = [];
  const pending = await pendingMigrations(db, known);
  for (const [place, migration] of pending.entries()) {
    progress(`Migrating (${migration.name})`, place, pending.length);
    const isMine = await db.write(context, (tx) => apply(tx, clock, migration, known));
    if (isMine) applied.push(migration);
  }
  return applied;
}

/** Returns false if another process applied the migration first. */
async function apply(
  tx: Tx,
  clock: Clock,
  migration: Migration,
  known: readonly Migration[],
): Promise<boolean> {
  if (tx.dialect === "postgres") {
    // Building an index has no time limit, and neither has waiting for another process that builds one.
    await tx.run("SET LOCAL statement_timeout = 0");
    await tx.run("SET LOCAL lock_timeout = 0");
    await tx.all("SELECT pg_advisory_xact_lock($1)", [migrationLock]);
  }
  const types = columnTypes[tx.dialect];
  await tx.run(
    `CREATE TABLE IF NOT EXISTS schema_versions (
      version ${types.integer} NOT NULL PRIMARY KEY,
      name ${types.text} NOT NULL,
      applied_at ${types.time} NOT NULL
    )`,
  );
  refuseOthers(await appliedVersions(tx), known);
  const { runMigration } = await import("./run-migration.ts");
  return runMigration(tx, clock, migration, known);
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
function refuseOthers(applied: ReadonlySet<number>, known: readonly Migration[]): void {
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
