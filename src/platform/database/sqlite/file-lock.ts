import { isSqliteError, translate } from "./errors.ts";
import { connectTo } from "./standalone.ts";

export interface FileLock {
  /** Lets the file go; so does the end of the process, however it ends. */
  release(): Promise<void>;
}

/**
 * Takes a lock that one process at a time can have; null while another has it. It is the operating system's lock on
 * the file, as SQLite takes it: after a kill it is gone at once, no process id has to be believed, and containers that
 * share a volume see it too.
 */
export async function lockFile(path: string): Promise<FileLock | null> {
  const connection = await connectTo(path);
  try {
    await connection.exec("PRAGMA busy_timeout = 0");
    // Nothing is ever written, so nothing has to be undone: no journal lies about after a kill.
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
