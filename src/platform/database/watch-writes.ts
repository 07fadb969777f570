import { StoreBusy, StoreUnavailable } from "./errors.ts";
import type { Database } from "./database.ts";

/** A database, and whether its writes succeed. */
interface WatchedDatabase {
  readonly db: Database;
  /** Whether the last write that ended failed because of the store: a full disk or a read-only database, for example. */
  readonly isRefusing: () => boolean;
}

/** Observes the outcomes of all writes, so that a readiness check needs no write of its own. */
export function watchWrites(db: Database): WatchedDatabase {
  let isRefusing = false;
  return {
    db: {
      ...db,
      async write(context, fn, foreseen) {
        try {
          const result = await db.write(context, fn, foreseen);
          isRefusing = false;
          return result;
        } catch (error) {
          // Other errors are those of the caller or of load, and say nothing about the store.
          if (error instanceof StoreUnavailable && !(error instanceof StoreBusy)) isRefusing = true;
          throw error;
        }
      },
    },
    isRefusing: () => isRefusing,
  };
}
