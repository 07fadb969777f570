import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defineProblem } from "../kernel/errors.ts";
import { lockFile } from "../platform/database/sqlite/file-lock.ts";

const ServerRuns = defineProblem({
  code: "server_runs",
  status: 409,
  title: "A server runs on this store already",
});

/** The right of one server on a SQLite store. Commands work on the store beside it and do not ask. */
export interface ServerPlace {
  /** Says where the server answers, for whoever comes second. */
  announce(url: string): Promise<void>;
  leave(): Promise<void>;
}

/** Takes the place of the one server of a data folder; ServerRuns names who has it. */
export async function takeServerPlace(dataDir: string): Promise<ServerPlace> {
  const lock = await lockFile(join(dataDir, "server.lock"));
  // Beside the lock, because nobody can read the locked file itself.
  const card = join(dataDir, "server.json");
  if (lock === null) {
    throw new ServerRuns(
      `${await readCard(card)}. Stop it first; for several servers at once keep the store on PostgreSQL (DATABASE_URL).`,
    );
  }
  const write = async (url: string | null) => {
    const draft = `${card}.${String(process.pid)}`;
    await writeFile(draft, `${JSON.stringify({ pid: process.pid, url })}\n`, { mode: 0o600 });
    await rename(draft, card);
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
    return "It has not said yet who it is";
  }
}
