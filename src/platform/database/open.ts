import type { Database, StoreLogger } from "./database.ts";
import { defaultLimits, type StoreLimits } from "./limits.ts";
import { pendingMigrations } from "./schema.ts";
import { ignoreNesting, refuseNesting } from "./write/nesting.ts";

export type StoreOptions = (PostgresPlace | SqlitePlace) & {
  /** The log for failures that no caller receives; none by default. */
  readonly logger?: StoreLogger;
  readonly limits?: Partial<StoreLimits>;
  /**
   * True in tests: a nested write, and a read that bypasses the open tx, throw at once. False by default, because it
   * triples the cost of every async call in the process (docs/decisions/0029).
   */
  readonly refusesNesting?: boolean;
};

interface PostgresPlace {
  readonly url: string;
  /** The maximum number of connections of this process, at least 2; `defaultConnections` by default. */
  readonly connections?: number;
  /** The schema of the store; by default the first one of the search path. */
  readonly schema?: string;
}

interface SqlitePlace {
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
