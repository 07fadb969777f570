import { isSqliteError, translate } from "./errors.ts";
import { connectTo } from "./standalone.ts";

export interface FileLock {
  /** Releases the lock; the end of the process, however it ends, releases it too. */
  release(): Promise<void>;
}

/**
 * Takes an exclusive lock; null if another process has it. It is the operating system's lock on the file, taken through
 * SQLite: a kill releases it at once, no process id has to be trusted, and containers that share a volume respect it
 * too.
 */
export async function lockFile(path: string): Promise<FileLock | null> {
  const connection = await connectTo(path);
  try {
    await connection.exec("PRAGMA busy_timeout = 0");
    // Nothing is ever written, so no rollback journal needs to stay behind after a kill.
    await connection.exec("PRAGMA journal_mode = MEMORY");
    await connection.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    await connection.close();
    if (isSqliteError(error) && error.code === "SQLITE_BUSY") return null;
    throw translate(error, `locking ${path}`);
  }
  return {
    async release() {
      await connection.exec("ROLLBACK");
      await connection.close();
    },
  };
}
