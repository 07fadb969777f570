import { open as openFile } from "node:fs/promises";
import type { Database } from "sqlite3";
import type { RawRow } from "../database.ts";
import { statementOf } from "../query/statement.ts";
import type { SqlValue } from "../schema/table.ts";
import type { Connection } from "./connection.ts";
import { isSqliteError, translate } from "./errors.ts";

/** A connection for a few statements. */
type Standalone = Omit<Connection, "run">;

/** Opens a single connection to a SQLite file, which is created if missing, readable only by its owner. */
async function connectTo(path: string): Promise<Standalone> {
  const file = await openFile(path, "a", 0o600);
  await file.close();
  return openExisting(path);
}

/** Opens a single connection to an existing SQLite file, without Sequelize, which takes longer to load than its work. */
export async function openExisting(path: string): Promise<Standalone> {
  const { default: driver } = await import("sqlite3");
  const raw = await new Promise<Database>((resolve, reject) => {
    // Read-write, because the first process to open the store creates the `-wal` and `-shm` files that every reader
    // needs.
    const opened = new driver.Database(path, driver.OPEN_READWRITE, (error: Error | null) => {
      if (error === null) resolve(opened);
      else reject(error);
    });
  });
  // From here on, statements run in the order in which they were issued.
  raw.serialize();
  const all = (sql: string, values: readonly SqlValue[]): Promise<RawRow[]> =>
    new Promise((resolve, reject) => {
      statementOf(sql, values);
      const named = Object.fromEntries(
        values.map((value, index) => [`$${String(index + 1)}`, value]),
      );
      raw.all<RawRow>(sql, named, (error, rows) => {
        if (error === null) resolve(rows);
        else reject(error);
      });
    });
  return {
    all,
    async exec(sql) {
      await all(sql, []);
    },
    close: () =>
      new Promise((resolve, reject) => {
        raw.close((error) => {
          if (error === null) resolve();
          else reject(error);
        });
      }),
  };
}

interface FileLock {
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
