import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { RateLimited } from "./problems.ts";

/** What a limit counts by: the credential's principal, or the client's address. */
interface Limit {
  readonly by: "credential" | "client";
  readonly points: number;
  readonly seconds: number;
}

/** Counted in this process; docs/settings.md names the multiplier. */
export const rateLimits = {
  credential: { by: "credential", points: 600, seconds: 60 },
  checkout: { by: "client", points: 300, seconds: 60 },
  submit: { by: "client", points: 10, seconds: 60 },
  login: { by: "client", points: 20, seconds: 60 },
  session: { by: "client", points: 120, seconds: 60 },
  registration: { by: "client", points: 10, seconds: 3_600 },
} as const satisfies Record<string, Limit>;

export type RateLimitName = keyof typeof rateLimits;

export interface RateLimitState {
  readonly name: RateLimitName;
  readonly quota: number;
  readonly windowSeconds: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

export interface RateLimiter {
  /** Counts a call; null where limits are switched off. Throws RateLimited, with the state for the headers. */
  count(name: RateLimitName, key: string): Promise<RateLimitState | null>;
}

export class RateLimitExceeded extends RateLimited {
  readonly state: RateLimitState;
  constructor(state: RateLimitState) {
    super(`Wait ${String(state.resetSeconds)} s before the next request of this kind.`, {
      retryAfterSeconds: state.resetSeconds,
    });
    this.state = state;
  }
}

/**
 * Limits per process. `scale` multiplies every quota; 0 switches them off.
 */
export function createRateLimiter(scale: number): RateLimiter {
  if (scale === 0) return { count: () => Promise.resolve(null) };
  const limiters = Object.fromEntries(
    Object.entries(rateLimits).map(([name, limit]) => {
      const quota = Math.max(1, Math.floor(limit.points * scale));
      return [
        name,
        { quota, limiter: new RateLimiterMemory({ points: quota, duration: limit.seconds }) },
      ];
    }),
  ) as Record<RateLimitName, { quota: number; limiter: RateLimiterMemory }>;

  return {
    async count(name, key) {
      const { quota, limiter } = limiters[name];
      const state = (result: RateLimiterRes): RateLimitState => ({
        name,
        quota,
        windowSeconds: rateLimits[name].seconds,
        remaining: Math.max(0, result.remainingPoints),
        resetSeconds: Math.max(1, Math.ceil(result.msBeforeNext / 1_000)),
      });
      try {
        return state(await limiter.consume(key));
      } catch (refused) {
        if (refused instanceof RateLimiterRes) throw new RateLimitExceeded(state(refused));
        throw refused;
      }
    },
  };
}

/** The headers of the IETF's RateLimit draft. */
export function rateLimitHeaders(state: RateLimitState): Record<string, string> {
  return {
    "RateLimit-Policy": `"${state.name}";q=${String(state.quota)};w=${String(state.windowSeconds)}`,
    RateLimit: `"${state.name}";r=${String(state.remaining)};t=${String(state.resetSeconds)}`,
  };
}
