import { chown, link, open as openFile, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Problem } from "../../../kernel/errors.ts";
import type { StoreLogger } from "../database.ts";
import { openDatabase, openForReading } from "../open.ts";
import { StoreInUse, type NewStore } from "../transfer/new-store.ts";
import { translate } from "./errors.ts";
import { openExisting } from "./standalone.ts";

/** Suffixes of the files that SQLite keeps beside a database. */
const companions = ["-wal", "-shm"];
const busyTimeoutMilliseconds = 4_000;

/** The caller holds the lock of the data folder, so nobody else uses the new store's name. */
export async function openNewSqlite(file: string, logger: StoreLogger): Promise<NewStore> {
  const path = `${file}.restoring`;
  await removeDatabase(path);
  const db = await openDatabase({ sqliteFile: path, logger });
  let isStore = false;
  return {
    db,
    async replace(moment, lastStep, beforeSwitch) {
      const former = (await exists(file)) ? `${file}.before-restore-${moment}` : null;
      if (former === null) await lastStep(null);
      else if (await checkpoint(file)) {
        const former = await openForReading({ sqliteFile: file });
        try {
          await lastStep(former);
        } finally {
          await former.close();
        }
      } else await lastStep("damaged");
      // Closing moves the write-ahead log into the file.
      await db.close();
      await copyOwner(path, former === null ? dirname(file) : file);
      await sync(path);
      if (former !== null) await setAside(file, former);
      await beforeSwitch();
      // The only step that changes the store. Before it, the store has two names.
      await rename(path, file);
      isStore = true;
      await sync(dirname(file));
      return former;
    },
    async discard() {
      await db.close();
      if (!isStore) await removeDatabase(path);
    },
  };
}

/**
 * Moves the write-ahead log of a stopped server into the store's file; false if the store is too damaged for that.
 * @throws StoreInUse if another process has the store open
 */
async function checkpoint(file: string): Promise<boolean> {
  try {
    const connection = await openExisting(file);
    try {
      await connection.exec(`PRAGMA busy_timeout = ${String(busyTimeoutMilliseconds)}`);
      await connection.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      await connection.all("SELECT COUNT(*) AS found FROM schema_versions", []);
    } finally {
      await connection.close();
    }
  } catch (error) {
    const translated = translate(error, `closing ${file}`);
    if (translated instanceof Problem && /locked/.test(translated.message)) throw translated;
    return false;
  }
  // The last process that closes a store removes its write-ahead log.
  if (!(await exists(`${file}-wal`))) return true;
  throw new StoreInUse(
    `Another process has ${file} open. End every till command that uses it, then try again.`,
  );
}

/** Gives the store, with what a damaged one left beside it, a second name. */
async function setAside(file: string, former: string): Promise<void> {
  await link(file, former);
  for (const companion of companions) {
    if (!(await exists(`${file}${companion}`))) continue;
    // SQLite would apply the write-ahead log of the former store to the new one.
    await rename(`${file}${companion}`, `${former}${companion}`);
  }
}

/** Gives a file that root created the owner of another one; the server may run as a user of its own. */
export async function copyOwner(path: string, like: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(like);
  await chown(path, uid, gid);
}

async function removeDatabase(path: string): Promise<void> {
  for (const suffix of ["", ...companions]) await rm(`${path}${suffix}`, { force: true });
}

/** Whether there is a file; one that cannot be looked at is an error. */
export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
      throw error;
    },
  );
}

/** Flushes a file, or the folder that holds its name, to disk. */
async function sync(path: string): Promise<void> {
  const handle = await openFile(path, "r");
  // Not every system allows syncing a folder.
  await handle.sync().catch(() => undefined);
  await handle.close();
}
