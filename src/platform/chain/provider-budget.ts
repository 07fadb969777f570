import { day, second, type Clock, type Instant } from "../../kernel/clock.ts";
import { ProviderError } from "./provider-error.ts";

/** How often a provider may be asked. */
export interface BudgetLimits {
  readonly requestsPerSecond: number;
  /** Counted from midnight UTC; null: as many as are needed. */
  readonly requestsPerDay: number | null;
}

/** What a provider may still be asked. */
export interface ProviderBudget {
  readonly requestsPerDay: number | null;
  /**
   * Before each request: waits for its turn. Throws ProviderError (`rate_limited`, with the time until midnight) where
   * the day's requests are used up.
   */
  take(): Promise<void>;
  /** Requests since midnight UTC. */
  spentToday(): { readonly day: Instant; readonly requests: number };
  /** Counts what was spent before this process began. */
  spentBefore(spent: { readonly day: Instant; readonly requests: number }): void;
}

/** What public nodes bear; one of your own bears more and is not slowed by it. */
export const defaultRequestsPerSecond = 25;

export function makeBudget(deps: {
  readonly limits: BudgetLimits;
  readonly clock: Clock;
  /** The provider's origin. */
  readonly provider: string;
  readonly delay: (milliseconds: number) => Promise<void>;
}): ProviderBudget {
  const { clock, delay, provider } = deps;
  const { requestsPerSecond, requestsPerDay } = deps.limits;
  const spacing = second / requestsPerSecond;
  /** When the bucket, which holds a second's requests, is full again. */
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
          `the day's ${String(requestsPerDay)} requests are used up; it is asked again from midnight UTC on`,
          { kind: "rate_limited", provider, retryAfterMs: used.day + day - clock.now() },
        );
      }
      used.requests += 1;
      const now = clock.now();
      // Where the clock went back, the bucket goes with it: nobody waits for what was an hour from now.
      fullAt = Math.max(fullAt - Math.max(0, askedAt - now), now) + spacing;
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
