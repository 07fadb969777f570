import { storeClosed } from "./errors.ts";

/** Who is using something that will be closed. */
export interface Usage {
  /** Runs `fn`; throws once `end` was called. */
  during<T>(fn: () => Promise<T>): Promise<T>;
  /** Takes no more, and waits for those that have begun. */
  end(): Promise<void>;
}

export function makeUsage(): Usage {
  let users = 0;
  let isEnded = false;
  let lastLeft: (() => void) | undefined;
  return {
    async during(fn) {
      if (isEnded) throw storeClosed();
      users += 1;
      try {
        return await fn();
      } finally {
        users -= 1;
        if (users === 0) lastLeft?.();
      }
    },
    async end() {
      isEnded = true;
      if (users > 0) await new Promise<void>((resolve) => (lastLeft = resolve));
    },
  };
}

/** An ending that happens once, however often it is asked for. */
export function once(end: () => Promise<void>): () => Promise<void> {
  let ended: Promise<void> | undefined;
  return () => (ended ??= end());
}
