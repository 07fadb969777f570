import type { Database, StoreLogger } from "./database.ts";
import { defaultLimits, type StoreLimits } from "./limits.ts";
import { pendingMigrations } from "./schema.ts";

export type StoreOptions = ({ readonly url: string } | { readonly sqliteFile: string }) & {
  /** Where failures that no caller learns of are told; nowhere when absent. */
  readonly logger?: StoreLogger;
  readonly limits?: Partial<StoreLimits>;
};

const silent: StoreLogger = { warn: () => undefined, error: () => undefined };

/**
 * Opens the store: `url` is `postgres://…`, `sqliteFile` a path whose folder exists. The drivers are loaded here, and
 * only the one that is needed. Throws StoreTooNew for a store of a newer program. One that is behind is the caller's
 * to migrate.
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
  if ("url" in options) {
    const { openPostgres } = await import("./postgres/open.ts");
    return openPostgres(options.url, logger, limits);
  }
  const { openSqlite } = await import("./sqlite/open.ts");
  return openSqlite(options.sqliteFile, logger, limits);
}
