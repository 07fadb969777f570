import { RateLimited } from "../../../api/declare/problems.ts";

/** Maximum number of works of one key that wait for their turn; further ones are refused at once. */
export const waitingMax = 8;
/** The delay that refused callers are advised to wait before a retry, in seconds. */
const retryAfterSeconds = 1;

/** Runs work one after another for each key, in the order of arrival. */
export interface Turns {
  /** Throws `rate_limited` if `waitingMax` works of the key are already waiting. */
  take<T>(key: string, work: () => Promise<T>): Promise<T>;
}

interface Line {
  /** The end of the last work. */
  last: Promise<unknown>;
  /** The number of works that run or wait. */
  length: number;
}

export function makeTurns(): Turns {
  const lines = new Map<string, Line>();
  return {
    async take(key, work) {
      const line = lines.get(key) ?? { last: Promise.resolve(), length: 0 };
      if (line.length > waitingMax) {
        throw new RateLimited(
          "Too many batches of this organization are waiting. Send the same request again in a moment, and send fewer at the same time.",
          { retryAfterSeconds },
        );
      }
      lines.set(key, line);
      line.length += 1;
      const running = line.last.then(work);
      line.last = running.catch(() => undefined);
      try {
        return await running;
      } finally {
        line.length -= 1;
        if (line.length === 0) lines.delete(key);
      }
    },
  };
}
