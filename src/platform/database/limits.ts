/** How long the store is waited for, in milliseconds. */
export interface StoreLimits {
  /** For another process to let go of SQLite's lock. */
  readonly busyMilliseconds: number;
  /** For one write: one that takes longer has hung, while its rows are locked and, on SQLite, the lane stands still. */
  readonly writeMilliseconds: number;
}

export const defaultLimits: StoreLimits = { busyMilliseconds: 15_000, writeMilliseconds: 30_000 };
