import { stat } from "node:fs/promises";
import { join } from "node:path";
import { defineProblem } from "../kernel/errors.ts";
import type { Config } from "../platform/config/index.ts";

const NoStore = defineProblem({
  code: "no_store",
  status: 404,
  title: "There is no store here",
});

const StoreBehind = defineProblem({
  code: "store_behind",
  status: 409,
  title: "The store is older than this program",
});

/** The settings that say where the store is. */
export type StorePlace = Pick<Config, "dataDir" | "databaseUrl">;

/** Where the SQLite store of a configuration lies. */
export function storeFile(place: StorePlace): string {
  return join(place.dataDir, "till.db");
}

/** How messages name the store; never with its password. */
export function storeName(place: StorePlace): string {
  if (place.databaseUrl === null) return storeFile(place);
  const { host, pathname } = new URL(place.databaseUrl);
  return `postgres://${host}${pathname}`;
}

/** Refuses a configuration whose SQLite store is not there; of PostgreSQL only a connection can tell. */
export async function requireStoreFile(place: StorePlace): Promise<void> {
  if (place.databaseUrl !== null) return;
  const found = await stat(storeFile(place)).then(
    (entry) => entry.isFile(),
    () => false,
  );
  if (!found) throw noStore(place);
}

/** The refusal of a store that lacks so many migrations. */
export function storeBehind(place: StorePlace, lacking: number): Error {
  return new StoreBehind(
    `The store ${storeName(place)} lacks ${String(lacking)} migrations. Run till db migrate, or start the server.`,
  );
}

/** The refusal of a place where no store was made, or not to the end. */
export function noStore(place: StorePlace): Error {
  const elsewhere = place.databaseUrl === null ? "set TILL_DATA_DIR" : "correct DATABASE_URL";
  return new NoStore(
    `There is no store at ${storeName(place)}. Make one with till init, or ${elsewhere}.`,
  );
}
