import type { Dialect } from "./database.ts";

/** Time limits of the store, in milliseconds. */
export interface StoreLimits {
  /** For another process to release SQLite's lock. */
  readonly busyMilliseconds: number;
  /** For one write: a longer one is stuck, and blocks its rows or, on SQLite, all other writes. */
  readonly writeMilliseconds: number;
}

export const defaultLimits: StoreLimits = { busyMilliseconds: 15_000, writeMilliseconds: 30_000 };

/**
 * The number of writes that a background worker runs concurrently. SQLite commits all waiting writes together; on
 * PostgreSQL, writes of one kind wait for each other's rows, and more of them would only wait longer.
 */
export const concurrentWrites: Readonly<Record<Dialect, number>> = { sqlite: 16, postgres: 4 };
