import type { Clock, Instant } from "../../kernel/clock.ts";

/** Remembers for a moment what was loaded last, so that many who ask at once cost one load. */
export interface Recent<T> {
  /** What `load` gives for the key, started at most `ttlMs` ago. Null and errors are not remembered. */
  get(key: string): Promise<T | null>;
  /** Forgets everything: the next who ask load anew. */
  clear(): void;
}

interface Entry<T> {
  readonly startedAt: Instant;
  readonly loading: Promise<T | null>;
}

/**
 * The age counts from the start of the load, so that no answer is older than `ttlMs`, however long the load took.
 * Entries leave in the order in which they came, when they are too old or more than `sizeMax`.
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
    // A clock that was set back must not keep an entry.
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
      // Deleted first, so that the new entry stands last.
      entries.delete(key);
      makeRoom(now);
      return start(key, now);
    },
    clear() {
      entries.clear();
    },
  };
}
