import { loadConfig, type LoadOptions } from "../../platform/config/load.ts";
import type { Reader } from "../../platform/database/database.ts";
import { openForReading } from "../../platform/database/open.ts";
import { requireStoreFile, storeFile } from "../../compose/store-location.ts";

/** How long a completion waits for a lock of the store, or for its server, in milliseconds. */
const storeWaitMs = 500;

/**
 * Reads a store for a completion, without its secret. Returns null if it lacks a migration.
 * @param read gets the setting TILL_ORGANIZATION too
 * @throws if the store or the settings cannot be read
 */
export async function readKnown<Result>(
  options: LoadOptions,
  read: (reader: Reader, organization: string | null) => Promise<Result>,
): Promise<Result | null> {
  const { config } = await loadConfig(options);
  await requireStoreFile(config);
  const { databaseUrl, organization } = config;
  const location = databaseUrl === null ? { sqliteFile: storeFile(config) } : { url: databaseUrl };
  const store = await openForReading(location, storeWaitMs);
  try {
    return store.pending.length > 0 ? null : await read(store, organization);
  } finally {
    await store.close();
  }
}
