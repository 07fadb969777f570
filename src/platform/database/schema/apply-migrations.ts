import { MigrationError, RerunBehavior, Umzug } from "umzug";
import { hour, type Clock } from "../../../kernel/clock.ts";
import { Defect } from "../../../kernel/errors.ts";
import { unwatched, type Progress } from "../../progress.ts";
import { systemContext, type Database, type Tx } from "../database.ts";
import { columnTypes } from "./table.ts";
import {
  appliedVersions,
  migrationLock,
  pendingMigrations,
  refuseOthers,
  schemaVersions,
  type Migration,
} from "./migrate.ts";

/** The time limit of a migration, in milliseconds: it builds indexes over all existing rows. */
const writeMilliseconds = 6 * hour;
const context = { ...systemContext("migrations"), writeMilliseconds };

/**
 * Applies pending migrations and returns them. Each one commits together with its version row; several processes may
 * run this concurrently. Import this file when it is needed: umzug is large.
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
  for (const [index, migration] of pending.entries()) {
    progress(`Migrating (${migration.name})`, index, pending.length);
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
  const umzug = new Umzug<Tx>({
    context: tx,
    logger: undefined,
    migrations: known.map(({ version, up, fill }) => ({
      name: String(version),
      async up() {
        for (const statement of up(types, tx.dialect)) await tx.run(statement);
        await fill?.(tx);
      },
    })),
    storage: {
      executed: async () => [...(await appliedVersions(tx))].map(String),
      logMigration: () => record(tx, clock, migration),
      unlogMigration: () => Promise.reject(new Defect("migrations go forward only")),
    },
  });
  try {
    const asked = { migrations: [String(migration.version)], rerun: RerunBehavior.SKIP };
    return (await umzug.up(asked)).length > 0;
  } catch (error) {
    // The store repeats a write by the class of its error.
    throw error instanceof MigrationError ? error.cause : error;
  }
}

async function record(tx: Tx, clock: Clock, migration: Migration): Promise<void> {
  const { version, since = version, name } = migration;
  const row = { name, appliedAt: clock.now() };
  const versions = Array.from({ length: version - since + 1 }, (_, index) => since + index);
  await tx.insertMany(
    schemaVersions,
    versions.map((one) => ({ ...row, version: one })),
  );
}
