import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { LoginLocked } from "./errors.ts";

/** How many failures lock a pair of account and source. */
const failuresMax = 10;
/** How long a pair stays locked after its last failure. */
const lockSeconds = 15 * 60;

interface Source {
  readonly email: string;
  readonly ip: string | null;
}

/** Locks an account for one source that fails again and again; others, and other sources, are not touched. */
export interface LoginLock {
  /** Throws LoginLocked while the pair is locked. */
  check(source: Source): Promise<void>;
  failed(source: Source): Promise<void>;
  succeeded(source: Source): Promise<void>;
}

export function createLoginLock(): LoginLock {
  const failures = new RateLimiterMemory({ points: failuresMax, duration: lockSeconds });
  const key = (source: Source) => `${source.ip ?? ""}|${source.email}`;
  return {
    async check(source) {
      const state = await failures.get(key(source));
      if (state === null || state.consumedPoints < failuresMax) return;
      const wait = Math.max(1, Math.ceil(state.msBeforeNext / 1_000));
      throw new LoginLocked(
        `Too many failures for this account from this address. Wait ${String(wait)} s, or reset the password.`,
        { retryAfterSeconds: wait },
      );
    },
    async failed(source) {
      try {
        await failures.consume(key(source));
      } catch (refused) {
        // The count is at its end already: check answers for it.
        if (!(refused instanceof RateLimiterRes)) throw refused;
      }
    },
    async succeeded(source) {
      await failures.delete(key(source));
    },
  };
}
