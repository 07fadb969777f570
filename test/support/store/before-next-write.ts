import type { Database } from "../../../src/platform/database/database.ts";

/** Runs work just before the next write of a store, as a quicker process may. */
export function beforeNextWrite(db: Database, work: () => Promise<unknown>): void {
  const write = db.write.bind(db);
  const writable = db as { write: typeof db.write };
  writable.write = async (context, fn, foreseen) => {
    writable.write = write;
    await work();
    return write(context, fn, foreseen);
  };
}
