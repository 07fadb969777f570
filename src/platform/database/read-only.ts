import { Defect } from "../../kernel/errors.ts";
import type { Reader } from "./database.ts";
import { unavailable } from "./errors.ts";
import { migrationLock, type Migration } from "./schema/migrate.ts";
import { makeReader } from "./query/reader.ts";
import { pendingMigrations } from "./schema.ts";

/** A store that is opened only for reading. */
export interface ReadOnlyDatabase extends Reader {
  /** The migrations that are not applied yet. */
  readonly pending: readonly Migration[];
  /** Makes all later reads see one snapshot. On PostgreSQL, migrations wait until the store is closed. */
  holdSnapshot(): Promise<void>;
  close(): Promise<void>;
}

/** How long to wait for a lock of another process, or for the server, in milliseconds, by default. */
const patienceMilliseconds = 4_000;

/**
 * Opens a store for a few reads on one connection. This takes a fraction of the time of opening it for writing, for
 * commands that must answer at once.
 * @param waitMs how long to wait for a lock of another process, or for the server
 * @throws StoreTooNew if a newer program migrated the store, StoreTooOld if it is from before version 0.2
 * @throws StoreUnavailable if it is missing or does not answer
 */
export async function openForReading(
  place: { readonly url: string } | { readonly sqliteFile: string },
  waitMs = patienceMilliseconds,
): Promise<ReadOnlyDatabase> {
  const opened =
    "url" in place
      ? await openPostgresReadOnly(place.url, waitMs)
      : await openSqliteReadOnly(place, waitMs);
  try {
    return { ...opened, pending: await pendingMigrations(opened) };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

type Opened = Omit<ReadOnlyDatabase, "pending">;

async function openSqliteReadOnly(
  { sqliteFile }: { readonly sqliteFile: string },
  waitMs: number,
): Promise<Opened> {
  const { openExisting } = await import("./sqlite/standalone.ts");
  const { translate } = await import("./sqlite/errors.ts");
  const connection = await openExisting(sqliteFile).catch((error: unknown) => {
    throw unavailable(`The store's file ${sqliteFile} cannot be opened`, error);
  });
  await connection.exec(`PRAGMA busy_timeout = ${String(waitMs)}`);
  await connection.exec("PRAGMA query_only = ON");
  const reader = makeReader("sqlite", async (sql, values) => {
    try {
      return await connection.all(sql, values);
    } catch (error) {
      throw translate(error, sql);
    }
  });
  return {
    ...reader,
    async holdSnapshot() {
      await reader.all("BEGIN");
      // SQLite takes the snapshot with the first read.
      await reader.all("SELECT COUNT(*) FROM schema_versions");
    },
    close: () => connection.close(),
  };
}

async function openPostgresReadOnly(url: string, waitMs: number): Promise<Opened> {
  const { connectAlone } = await import("./postgres/standalone.ts");
  const alone = await connectAlone(url, waitMs).catch((error: unknown) => {
    throw error instanceof Defect ? error : unavailable("The database cannot be reached", error);
  });
  return {
    ...makeReader("postgres", (sql, values) => alone.read(sql, values)),
    holdSnapshot: () =>
      alone.holdSnapshot(`pg_advisory_xact_lock_shared(${String(migrationLock)})`),
    close: () => alone.close(),
  };
}

/** Returns the version of the database program, such as `15.14`. */
export async function databaseVersion(reader: Reader): Promise<string> {
  const statement = {
    sqlite: 'SELECT sqlite_version() AS "version"',
    postgres: `SELECT current_setting('server_version') AS "version"`,
  }[reader.dialect];
  const [row] = await reader.all<{ version: string }>(statement);
  return row?.version ?? "unknown";
}
