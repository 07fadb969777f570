import type { Database, StoreLogger } from "./database.ts";

export type StoreOptions = ({ readonly url: string } | { readonly sqliteFile: string }) & {
  /** Where failures that no caller learns of are told; nowhere when absent. */
  readonly logger?: StoreLogger;
};

const silent: StoreLogger = { warn: () => undefined, error: () => undefined };

/**
 * Opens the store: `url` is `postgres://…`, `sqliteFile` a path whose folder exists. The drivers are loaded here and
 * only the one that is needed. The caller migrates it, or refuses to work on one that is behind.
 */
export async function openDatabase(options: StoreOptions): Promise<Database> {
  const logger = options.logger ?? silent;
  if ("url" in options) {
    const { openPostgres } = await import("./postgres/open.ts");
    return openPostgres(options.url, logger);
  }
  const { openSqlite } = await import("./sqlite/open.ts");
  return openSqlite(options.sqliteFile, logger);
}
