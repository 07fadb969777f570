import { storeClosed, tooManyWaiting } from "../errors.ts";

/** Tracks the users of a resource, so that closing it can wait for them. */
interface Usage {
  /** Runs `fn`; throws after `end` was called. */
  during<T>(fn: () => Promise<T>): Promise<T>;
  /** Refuses new users and waits for the current ones. */
  end(): Promise<void>;
}

/** @param limit the maximum number of users; further ones are refused at once */
export function makeUsage(limit = Number.POSITIVE_INFINITY): Usage {
  let users = 0;
  let isEnded = false;
  let lastLeft: (() => void) | undefined;
  return {
    async during(fn) {
      if (isEnded) throw storeClosed();
      if (users >= limit) throw tooManyWaiting();
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
