import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defineProblem } from "../kernel/errors.ts";
import { lockFile } from "../platform/database/sqlite/standalone.ts";

const ServerRuns = defineProblem({
  code: "server_runs",
  status: 409,
  title: "A server is already running on this store",
});

/** The lock that allows one server per SQLite store. Commands work on the store without it. */
export interface DataFolderLock {
  /** Publishes the server's URL for the error message of a second server. */
  announce(url: string): Promise<void>;
  leave(): Promise<void>;
}

/** Locks a data folder for this server. Throws ServerRuns, which names the process that holds the lock. */
export async function lockDataFolder(dataDir: string): Promise<DataFolderLock> {
  const lock = await lockFile(join(dataDir, "server.lock"));
  // In a separate file, because the locked file itself cannot be read.
  const card = join(dataDir, "server.json");
  if (lock === null) {
    throw new ServerRuns(
      `${await readCard(card)}. Stop it first. To run several servers at once, keep the store on PostgreSQL (DATABASE_URL).`,
    );
  }
  const write = async (url: string | null) => {
    const partial = `${card}.${String(process.pid)}`;
    await writeFile(partial, `${JSON.stringify({ pid: process.pid, url })}\n`, { mode: 0o600 });
    await rename(partial, card);
  };
  await write(null);
  return {
    announce: write,
    async leave() {
      await rm(card, { force: true });
      await lock.release();
    },
  };
}

async function readCard(path: string): Promise<string> {
  try {
    const { pid, url } = JSON.parse(await readFile(path, "utf8")) as { pid: number; url: unknown };
    const where = typeof url === "string" ? `at ${url}` : "which is still starting";
    return `It is process ${String(pid)}, ${where}`;
  } catch {
    return "Its process id is not known yet";
  }
}
