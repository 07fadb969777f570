import { open as openFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Defect } from "../../../kernel/errors.ts";
import type { Connection } from "./connection.ts";
import { translate } from "./errors.ts";
import { connectTo } from "./standalone.ts";

/** How long the copy waits for a lock of another process, in milliseconds. */
const busyTimeoutMilliseconds = 15_000;

/**
 * Writes a verified copy of a SQLite store to a file that does not exist yet, readable only by its owner. The store may
 * be in use: the copy is a consistent snapshot. It appears under its name completely or not at all.
 */
export async function copySqlite(file: string, target: string): Promise<void> {
  const draft = `${target}.partial`;
  await rm(draft, { force: true });
  const empty = await openFile(draft, "wx", 0o600);
  await empty.close();
  try {
    await withConnection(file, async (store) => {
      await store.exec(`PRAGMA busy_timeout = ${String(busyTimeoutMilliseconds)}`);
      await store.all("VACUUM INTO $1", [draft]);
    });
    await withConnection(draft, check);
    await sync(draft);
    await rename(draft, target);
    await sync(dirname(target));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function check(copy: Connection): Promise<void> {
  const found = await copy.all("PRAGMA quick_check", []);
  if (found.length === 1 && found[0]?.["quick_check"] === "ok") return;
  throw new Defect("the copy of the store is damaged: check the disk before you continue");
}

async function withConnection(
  path: string,
  work: (connection: Connection) => Promise<void>,
): Promise<void> {
  const connection = await connectTo(path);
  try {
    await work(connection);
  } catch (error) {
    throw translate(error, `copying ${path}`);
  } finally {
    await connection.close();
  }
}

/** Flushes a file, or the folder that holds its name, to disk. */
async function sync(path: string): Promise<void> {
  const handle = await openFile(path, "r");
  // Not every system allows syncing a folder.
  await handle.sync().catch(() => undefined);
  await handle.close();
}
