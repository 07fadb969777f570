import { open as openFile } from "node:fs/promises";
import { makeConnection, type Connection } from "./connection.ts";

/** Opens a single connection to a SQLite file, which is created if missing, readable only by its owner. */
export async function connectTo(path: string): Promise<Connection> {
  const file = await openFile(path, "a", 0o600);
  await file.close();
  return openExisting(path);
}

/** Opens a single connection to an existing SQLite file. */
export async function openExisting(path: string): Promise<Connection> {
  const { default: driver } = await import("sqlite3");
  return new Promise((resolve, reject) => {
    // Read-write, because the first process to open the store creates the `-wal` and `-shm` files that every reader
    // needs.
    const raw = new driver.Database(path, driver.OPEN_READWRITE, (error: Error | null) => {
      if (error === null) resolve(makeConnection(raw));
      else reject(error);
    });
  });
}
