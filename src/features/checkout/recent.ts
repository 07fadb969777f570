import type { Clock, Instant } from "../../kernel/clock.ts";

/** A short-lived cache: concurrent and repeated requests for a key share one load. */
export interface Recent<T> {
  /** Returns the result of `load` for the key, started at most `ttlMs` ago. Null and errors are not cached. */
  get(key: string): Promise<T | null>;
  /** Discards the result for the key. */
  forget(key: string): void;
  /** Discards everything. */
  clear(): void;
}

interface Entry<T> {
  readonly startedAt: Instant;
  readonly loading: Promise<T | null>;
}

/**
 * Creates a cache. The age counts from the start of the load, so that no result is older than `ttlMs` however long the
 * load took. Entries are evicted in insertion order when they are too old or more than `sizeMax`.
 */
export function createRecent<T>(options: {
  readonly load: (key: string) => Promise<T | null>;
  readonly clock: Clock;
  readonly ttlMs: number;
  readonly sizeMax: number;
}): Recent<T> {
  const { load, clock, ttlMs, sizeMax } = options;
  const entries = new Map<string, Entry<T>>();

  function isFresh(entry: Entry<T>, now: Instant): boolean {
    // If the clock is set back, the entry is discarded.
    return now >= entry.startedAt && now - entry.startedAt < ttlMs;
  }

  function makeRoom(now: Instant): void {
    for (const [key, entry] of entries) {
      if (entries.size < sizeMax && isFresh(entry, now)) return;
      entries.delete(key);
    }
  }

  async function start(key: string, now: Instant): Promise<T | null> {
    const loading = load(key);
    const entry: Entry<T> = { startedAt: now, loading };
    entries.set(key, entry);
    let isKept = false;
    try {
      const loaded = await loading;
      isKept = loaded !== null;
      return loaded;
    } finally {
      if (!isKept && entries.get(key) === entry) entries.delete(key);
    }
  }

  return {
    get(key) {
      const now = clock.now();
      const entry = entries.get(key);
      if (entry !== undefined && isFresh(entry, now)) return entry.loading;
      // Deleted first, so that the new entry is last in insertion order.
      entries.delete(key);
      makeRoom(now);
      return start(key, now);
    },
    forget(key) {
      entries.delete(key);
    },
    clear() {
      entries.clear();
    },
  };
}
