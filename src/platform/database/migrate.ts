import { hour, type Clock } from "../../kernel/clock.ts";
import type { Database, Dialect, Reader, Tx } from "./database.ts";
import { StoreTooNew } from "./errors.ts";
import { integer, table, text, time, type Table } from "./table.ts";
import { columnTypes, type ColumnTypes } from "./types.ts";
import { systemContext } from "./system-context.ts";

/** One step of the schema. Numbered and forward only; frozen once it is released. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  /** The statements, in order, in the dialect's types. */
  readonly up: (types: ColumnTypes, dialect: Dialect) => readonly string[];
  /** Fills new tables from old rows, after the statements. */
  readonly fill?: (tx: Tx) => Promise<void>;
}

/** One row for each migration that the store has. */
export const schemaVersions = table(
  "schema_versions",
  { version: integer(), name: text(), appliedAt: time() },
  { primaryKey: ["version"] },
);

/** Held on PostgreSQL while a migration runs: an arbitrary number that no other program uses. */
const migrationLock = 7_184_552_001;

/** A migration builds indexes over every row that there is. */
const writeMilliseconds = 6 * hour;
const context = { ...systemContext("migrations"), writeMilliseconds };

/** The number of the newest migration that the store has; 0 for an empty store. */
export async function currentVersion(db: Reader): Promise<number> {
  return Math.max(0, ...(await appliedVersions(db)));
}

/** The migrations that the store still lacks, in order. */
export async function pendingMigrations(
  db: Reader,
  known: readonly Migration[],
): Promise<readonly Migration[]> {
  const applied = await appliedVersions(db);
  refuseNewer(applied, known);
  return known.filter(({ version }) => !applied.has(version));
}

/**
 * Brings the store up to date and gives what was applied. Each migration commits with its version row; several
 * processes may call this at once. Throws StoreTooNew when a newer program has been here.
 */
export async function applyMigrations(
  db: Database,
  clock: Clock,
  known: readonly Migration[],
): Promise<readonly Migration[]> {
  const applied: Migration[] = [];
  for (const migration of await pendingMigrations(db, known)) {
    const isMine = await db.write(context, (tx) => apply(tx, clock, migration, known));
    if (isMine) applied.push(migration);
  }
  return applied;
}

/** False when another process was first. */
async function apply(
  tx: Tx,
  clock: Clock,
  migration: Migration,
  known: readonly Migration[],
): Promise<boolean> {
  if (tx.dialect === "postgres") {
    // Building an index takes as long as it takes, and so may the process that is at it now.
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
  const applied = await appliedVersions(tx);
  refuseNewer(applied, known);
  if (applied.has(migration.version)) return false;
  for (const statement of migration.up(types, tx.dialect)) await tx.run(statement);
  await migration.fill?.(tx);
  const { version, name } = migration;
  await tx.insert(schemaVersions, { version, name, appliedAt: clock.now() });
  return true;
}

async function appliedVersions(db: Reader): Promise<ReadonlySet<number>> {
  if (!(await hasTable(db, schemaVersions))) return new Set();
  const rows = await db.find(schemaVersions, "ORDER BY version");
  return new Set(rows.map(({ version }) => version));
}

/** Whether a store has a table: one whose making was cut short lacks the later ones. */
export async function hasTable(db: Reader, { name }: Pick<Table, "name">): Promise<boolean> {
  const catalogue: Record<Dialect, string> = {
    sqlite: "SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = $1",
    postgres: "SELECT 1 AS found WHERE to_regclass($1) IS NOT NULL",
  };
  return (await db.all(catalogue[db.dialect], [name])).length > 0;
}

function refuseNewer(applied: ReadonlySet<number>, known: readonly Migration[]): void {
  const newest = Math.max(0, ...known.map(({ version }) => version));
  const store = Math.max(0, ...applied);
  if (store <= newest) return;
  throw new StoreTooNew(
    `The store has version ${String(store)} and this program knows versions up to ${String(newest)}. ` +
      "Start the newer program again, or restore a backup from before the upgrade.",
  );
}
