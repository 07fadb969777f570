import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { defineProblem } from "../kernel/errors.ts";
import type { Config } from "../platform/config/config.ts";
import { nameOfPostgres } from "../platform/database/postgres/url.ts";

const NoStore = defineProblem({
  code: "no_store",
  status: 404,
  title: "No store found",
});

const StoreBehind = defineProblem({
  code: "store_behind",
  status: 409,
  title: "The store is older than this program",
});

/** The settings that determine the store's location. */
export type StoreLocation = Pick<Config, "dataDir" | "databaseUrl">;

/** Returns the path of the SQLite store. */
export function storeFile(location: StoreLocation): string {
  return join(location.dataDir, "till.db");
}

/** Returns the store's name for messages, without its password. */
export function storeName(location: StoreLocation): string {
  if (location.databaseUrl === null) return storeFile(location);
  return nameOfPostgres(location.databaseUrl);
}

/** Whether a store lies where Till expects it without any settings, so that its name tells an operator nothing. */
export function isUsualStore(location: StoreLocation): boolean {
  return location.databaseUrl === null && location.dataDir === resolve("data");
}

/** Throws if the SQLite store does not exist. A PostgreSQL store can only be checked by connecting. */
export async function requireStoreFile(location: StoreLocation): Promise<void> {
  if (location.databaseUrl !== null) return;
  const found = await stat(storeFile(location)).then(
    (entry) => entry.isFile(),
    () => false,
  );
  if (!found) throw noStore(location);
}

/** Returns the error for a store with pending migrations, or without keyed audit seals, which a migration adds. */
export function storeBehind(location: StoreLocation, lacking: number | "keyed audit seals"): Error {
  const lack =
    typeof lacking === "number" ? `has ${String(lacking)} pending migrations` : `lacks ${lacking}`;
  return new StoreBehind(
    `The store ${storeName(location)} ${lack}. Run till db migrate, or start the server.`,
  );
}

/** Returns the error for a location without a completely created store. */
export function noStore(location: StoreLocation): Error {
  const isFile = location.databaseUrl === null;
  const elsewhere = isFile
    ? "set TILL_DATA_DIR; for a running demo, to the data folder that it prints, and that goes when the demo ends"
    : "correct DATABASE_URL";
  return new NoStore(
    `${storeName(location)} does not exist or is incomplete. Create a store with till init, or ${elsewhere}.`,
  );
}
