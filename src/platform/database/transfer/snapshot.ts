import type { Dialect } from "../database.ts";
import { openForReading, type ReadOnlyDatabase } from "../read-only.ts";
import { migrationLock } from "../schema/migrate.ts";

const begin: Readonly<Record<Dialect, string>> = {
  sqlite: "BEGIN",
  postgres: "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY",
};

/**
 * Opens a store for reading one snapshot of it: everything that was acknowledged before, and nothing later. Writers are
 * not blocked, except migrations of PostgreSQL, which wait until it is closed.
 * @throws as `openForReading`
 */
export async function openSnapshot(
  place: { readonly url: string } | { readonly sqliteFile: string },
): Promise<ReadOnlyDatabase> {
  const db = await openForReading(place);
  try {
    if (db.dialect === "postgres") {
      // Tables are not part of a snapshot, so that a migration would change them under it. Taken before BEGIN, because
      // the snapshot must be newer than the migration for which this waits.
      await db.all("SELECT pg_advisory_lock_shared($1)", [migrationLock]);
      await db.all("SET idle_in_transaction_session_timeout = 0");
    }
    await db.all(begin[db.dialect]);
    // SQLite takes the snapshot with the first read.
    await db.all("SELECT COUNT(*) FROM schema_versions");
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}
