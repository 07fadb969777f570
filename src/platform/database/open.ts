import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import { Defect } from "../../kernel/errors.ts";
import {
  defaultLimits,
  type Database,
  type Reader,
  type StoreLimits,
  type StoreLogger,
} from "./database.ts";
import { NestedWrite, readPastWrite, unavailable } from "./errors.ts";
import { makeReader } from "./query/statement.ts";
import { pendingMigrations } from "./schema.ts";
import { migrationLock, type Migration } from "./schema/migrate.ts";

export type StoreOptions = (PostgresLocation | SqliteLocation) & {
  /** The log for failures that no caller receives; none by default. */
  readonly logger?: StoreLogger;
  readonly limits?: Partial<StoreLimits>;
  /**
   * True in tests: a nested write, and a read that bypasses the open tx, throw at once. False by default, because it
   * triples the cost of every async call in the process (docs/decisions/0029).
   */
  readonly refusesNesting?: boolean;
};

interface PostgresLocation {
  readonly url: string;
  /** The maximum number of connections of this process, at least 2; `defaultConnections` by default. */
  readonly connections?: number;
  /** The schema of the store; by default the first one of the search path. */
  readonly schema?: string;
}

interface SqliteLocation {
  readonly sqliteFile: string;
  /** True for a store that is thrown away after use: a commit does not wait until it is on disk. */
  readonly isScratch?: boolean;
}

/** The default maximum number of PostgreSQL connections of a process. */
const defaultConnections = 16;

const silent: StoreLogger = { warn: () => undefined, error: () => undefined };

/**
 * Opens the store. `url` is `postgres://…`; `sqliteFile` is a path whose folder exists. Only the driver that is needed
 * is loaded. The caller applies pending migrations.
 * @throws StoreTooNew if a newer program migrated the store, StoreTooOld if it is from before version 0.2
 */
export async function openDatabase(options: StoreOptions): Promise<Database> {
  const db = await connect(options);
  try {
    await pendingMigrations(db);
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}

async function connect(options: StoreOptions): Promise<Database> {
  const logger = options.logger ?? silent;
  const limits = { ...defaultLimits, ...options.limits };
  const nesting = options.refusesNesting === true ? refuseNesting() : ignoreNesting;
  if ("url" in options) {
    const { openPostgres } = await import("./postgres/open.ts");
    const { url, connections = defaultConnections, schema = null } = options;
    return openPostgres({ url, connections, schema }, logger, limits, nesting);
  }
  const { openSqlite } = await import("./sqlite/open.ts");
  return openSqlite(options, logger, limits, nesting);
}

/**
 * Detects calls inside a running write that bypass its tx: a nested write would wait for itself until its time limit,
 * and a read would not see the changes of the writes in the open commit.
 */
export interface Nesting {
  /** Throws NestedWrite when called inside a write. */
  refuseWrite(): void;
  /** Throws a Defect when called inside a write. */
  refuseRead(sql: string): void;
  /** Returns `fn` bound to the caller's async context, and marked as a write while it runs. */
  bind<A, T>(fn: (argument: A) => Promise<T>): (argument: A) => Promise<T>;
}

/** A running or ended write in the current async context. */
interface Write {
  readonly nesting: Nesting;
  /** The enclosing write of another database. */
  readonly around: Write | undefined;
  isOpen: boolean;
}

/** Detects nothing. */
const ignoreNesting: Nesting = {
  refuseWrite: () => undefined,
  refuseRead: () => undefined,
  bind: (fn) => fn,
};

// Shared by all databases: every AsyncLocalStorage that was ever used slows down all promises of the process, even
// after its database was closed.
const writes = new AsyncLocalStorage<Write>();
/** The number of writes that run. While there are none, the storage is disabled. */
let running = 0;

/** Returns the innermost enclosing write that has not ended. */
function openWrite(): Write | undefined {
  let write = writes.getStore();
  while (write?.isOpen === false) write = write.around;
  return write;
}

/** Throws on nesting, by following the async calls of every write. For tests. */
function refuseNesting(): Nesting {
  function isInside(): boolean {
    let write = openWrite();
    while (write !== undefined && !(write.isOpen && write.nesting === nesting))
      write = write.around;
    return write !== undefined;
  }
  const nesting: Nesting = {
    refuseWrite() {
      if (isInside()) throw new NestedWrite();
    },
    refuseRead(sql) {
      if (isInside()) throw readPastWrite(sql);
    },
    bind(fn) {
      // The write queue runs writes of many callers in one loop; each keeps the async context of its caller.
      const caller = new AsyncResource("TillWrite");
      return (argument) =>
        caller.runInAsyncScope(async () => {
          const write = { nesting, around: openWrite(), isOpen: true };
          running += 1;
          try {
            return await writes.run(write, fn, argument);
          } finally {
            write.isOpen = false;
            running -= 1;
            if (running === 0) writes.disable();
          }
        });
    },
  };
  return nesting;
}

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
  location: { readonly url: string } | { readonly sqliteFile: string },
  waitMs = patienceMilliseconds,
): Promise<ReadOnlyDatabase> {
  const opened =
    "url" in location
      ? await openPostgresReadOnly(location.url, waitMs)
      : await openSqliteReadOnly(location, waitMs);
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
