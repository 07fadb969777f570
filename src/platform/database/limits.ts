/** Time limits of the store, in milliseconds. */
export interface StoreLimits {
  /** For another process to release SQLite's lock. */
  readonly busyMilliseconds: number;
  /** For one write: a longer one is stuck, and blocks its rows or, on SQLite, all other writes. */
  readonly writeMilliseconds: number;
}

export const defaultLimits: StoreLimits = { busyMilliseconds: 15_000, writeMilliseconds: 30_000 };
