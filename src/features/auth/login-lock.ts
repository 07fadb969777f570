import { addressGroup } from "../../http/client-address.ts";
import { defineProblem } from "../../kernel/errors.ts";
import { minute, second, type Clock, type Instant } from "../../kernel/clock.ts";
import { perApp } from "../../app.ts";

export const LoginLocked = defineProblem({
  code: "login_locked",
  status: 429,
  title: "Too many failed logins",
  remedy: "Wait as long as `Retry-After` says, or reset the password.",
});

/** Number of failures that lock a pair of account and source address. */
const failuresMax = 10;
/** How long failures count after the last one, and therefore how long a lock lasts. */
const lockedFor = 15 * minute;
/** Number of stored pairs at which expired ones are removed, or twice as many as the last removal has left. */
const sweepAtLeast = 10_000;

interface Source {
  readonly email: string;
  readonly ip: string | null;
}

/** Locks an account for a source address after repeated failures; other accounts and addresses are not affected. */
interface LoginLock {
  /**
   * Runs a password check and returns its result. A wrong password counts as a failure; a correct one resets the count.
   * The number of concurrent checks never exceeds the remaining failures, so a burst gets no more guesses than
   * sequential calls. @throws LoginLocked
   */
  attempt(source: Source, check: () => Promise<boolean>): Promise<boolean>;
  /** Resets the failures after a password reset. */
  forget(source: Source): void;
}

interface Pair {
  failures: number;
  countsUntil: Instant;
  running: number;
  /** Checks that wait until a running one ends. */
  waiting: (() => void)[];
}

/** Returns the login lock of this process. */
export const loginLockOf = perApp((app) => createLoginLock(app));

export function createLoginLock(deps: { readonly clock: Clock }): LoginLock {
  const { clock } = deps;
  const pairs = new Map<string, Pair>();
  let sweepAt = sweepAtLeast;
  const keyOf = ({ email, ip }: Source) => `${addressGroup(ip ?? "")}|${email}`;

  function pairOf(key: string): Pair {
    let pair = pairs.get(key);
    if (pair === undefined) {
      if (pairs.size >= sweepAt) sweep();
      pair = { failures: 0, countsUntil: 0, running: 0, waiting: [] };
      pairs.set(key, pair);
    }
    return pair;
  }

  function sweep(): void {
    for (const [key, pair] of pairs) {
      if (pair.running === 0 && pair.countsUntil <= clock.now()) pairs.delete(key);
    }
    sweepAt = Math.max(sweepAtLeast, 2 * pairs.size);
  }

  function requireUnlocked(pair: Pair): void {
    const now = clock.now();
    if (pair.countsUntil <= now) pair.failures = 0;
    if (pair.failures < failuresMax) return;
    const wait = Math.ceil((pair.countsUntil - now) / second);
    throw new LoginLocked(
      `Too many failed logins for this account from this address. Wait ${String(wait)} seconds, or reset the password.`,
      { retryAfterSeconds: wait },
    );
  }

  return {
    async attempt(source, check) {
      const key = keyOf(source);
      const pair = pairOf(key);
      requireUnlocked(pair);
      while (pair.failures + pair.running >= failuresMax) {
        await new Promise<void>((go) => pair.waiting.push(go));
        requireUnlocked(pair);
      }
      pair.running += 1;
      try {
        const isRight = await check();
        pair.failures = isRight ? 0 : pair.failures + 1;
        pair.countsUntil = clock.now() + lockedFor;
        return isRight;
      } finally {
        pair.running -= 1;
        const woken = pair.waiting.splice(0);
        for (const go of woken) go();
        if (pair.failures === 0 && woken.length === 0 && pair.running === 0) pairs.delete(key);
      }
    },

    forget(source) {
      const pair = pairs.get(keyOf(source));
      if (pair !== undefined) pair.failures = 0;
    },
  };
}
