import type { Dialect } from "./database.ts";

/**
 * Ends a SELECT in a transaction: its rows stay as they are until the commit, and others may read them the same way.
 * On SQLite one write runs at a time, which does the same.
 */
export const sharedLock: Readonly<Record<Dialect, string>> = {
  sqlite: "",
  postgres: " FOR SHARE",
};
