import type { Dialect } from "../database.ts";

/**
 * A suffix for a SELECT in a transaction that keeps its rows unchanged until the commit, while others may read them
 * with the same lock. SQLite needs none, because it runs one write at a time.
 */
export const sharedLock: Readonly<Record<Dialect, string>> = {
  sqlite: "",
  postgres: " FOR SHARE",
};
