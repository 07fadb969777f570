import { open as openFile } from "node:fs/promises";
import { makeConnection, type Connection } from "./connection.ts";

/** A connection of its own to a SQLite file, which is made where it is missing, for its owner alone. */
export async function connectTo(path: string): Promise<Connection> {
  const file = await openFile(path, "a", 0o600);
  await file.close();
  return openExisting(path);
}

/** The same to a file that has to be there. */
export async function openExisting(path: string): Promise<Connection> {
  const { default: driver } = await import("sqlite3");
  return new Promise((resolve, reject) => {
    // Not for reading alone: whoever comes first makes the files beside it that every reader needs.
    const raw = new driver.Database(path, driver.OPEN_READWRITE, (error: Error | null) => {
      if (error === null) resolve(makeConnection(raw));
      else reject(error);
    });
  });
}
