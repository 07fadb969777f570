import { day, second, type Clock, type Instant } from "../../../kernel/clock.ts";
import { ProviderError } from "./error.ts";

/** Limits on the requests to a provider. */
export interface BudgetLimits {
  readonly requestsPerSecond: number;
  /** Requests per day, from midnight UTC; null: unlimited. */
  readonly requestsPerDay: number | null;
}

/** The token bucket and the daily limit of a provider. */
export interface ProviderBudget {
  readonly requestsPerDay: number | null;
  /**
   * Waits until a request may be sent. Throws ProviderError (`rate_limited`, with the time until midnight) if the day's
   * requests are used up.
   */
  take(): Promise<void>;
  /** Requests since midnight UTC. */
  spentToday(): { readonly day: Instant; readonly requests: number };
  /** Adds the requests that were sent before this process started. */
  spentBefore(spent: { readonly day: Instant; readonly requests: number }): void;
}

/**
 * The rate that public nodes tolerate. Your own node tolerates more, and the limit does not slow it down noticeably.
 */
export const defaultRequestsPerSecond = 25;

export function makeBudget(deps: {
  readonly limits: BudgetLimits;
  readonly clock: Clock;
  /** The provider's origin. */
  readonly provider: string;
  readonly delay: (milliseconds: number) => Promise<void>;
  /** Returns the rate that the provider was found to tolerate; by default that of the limits. */
  readonly tolerated?: () => number;
}): ProviderBudget {
  const { clock, delay, provider } = deps;
  const { requestsPerSecond, requestsPerDay } = deps.limits;
  const tolerated = deps.tolerated ?? (() => requestsPerSecond);
  /** The time at which the bucket, which holds one second's requests, is full again. */
  let fullAt = 0;
  let askedAt = 0;
  let spent = { day: 0, requests: 0 };

  function today(): typeof spent {
    const midnight = Math.floor(clock.now() / day) * day;
    if (spent.day !== midnight) spent = { day: midnight, requests: 0 };
    return spent;
  }

  return {
    requestsPerDay,
    async take() {
      const used = today();
      if (requestsPerDay !== null && used.requests >= requestsPerDay) {
        throw new ProviderError(
          `today's ${String(requestsPerDay)} requests are used up; the next one is sent after midnight UTC`,
          { kind: "rate_limited", provider, retryAfterMs: used.day + day - clock.now() },
        );
      }
      used.requests += 1;
      const now = clock.now();
      // If the clock was set back, move the bucket back too: otherwise requests would wait for a time that was an hour
      // away.
      fullAt = Math.max(fullAt - Math.max(0, askedAt - now), now) + second / tolerated();
      askedAt = now;
      const waitMs = fullAt - now - second;
      if (waitMs > 0) await delay(Math.ceil(waitMs));
    },
    spentToday: () => ({ ...today() }),
    spentBefore(before) {
      const used = today();
      if (before.day === used.day) used.requests = Math.max(used.requests, before.requests);
    },
  };
}
