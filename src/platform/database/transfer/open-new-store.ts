import type { StoreLogger } from "../database.ts";
import type { NewStore } from "./new-store.ts";

/** Creates an empty store beside a store, after it removed that of a killed process. Only one can exist per store. */
export async function openNewStore(
  location: { readonly url: string } | { readonly sqliteFile: string },
  logger: StoreLogger,
): Promise<NewStore> {
  if ("url" in location) {
    const { openNewPostgres } = await import("../postgres/new-store.ts");
    return openNewPostgres(location.url, logger);
  }
  const { openNewSqlite } = await import("../sqlite/new-store.ts");
  return openNewSqlite(location.sqliteFile, logger);
}
