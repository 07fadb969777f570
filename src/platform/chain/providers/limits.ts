import { day, minute, second, type Clock, type Instant } from "../../../kernel/clock.ts";
import { ProviderError } from "./error.ts";

/**
 * A part of a request whose size providers limit:
 * - `calls`: the calls in one request
 * - `blocks`: the blocks of one eth_getLogs
 * - `recipients`: the recipients by which one eth_getLogs filters
 * - `contracts`: the contracts by which one eth_getLogs filters
 * - `requestsPerSecond`: the rate of requests
 */
export type LimitedPart = "calls" | "blocks" | "recipients" | "contracts" | "requestsPerSecond";

/** A limit that a provider's refusals showed. It is stored with the provider's health. */
export interface LearnedLimit {
  readonly part: LimitedPart;
  /** The largest size that the provider is asked for now. */
  readonly most: number;
  /** The size that it last refused; null: a larger size is tried again. */
  readonly refusedSize: number | null;
  /** When the limit was learned, or a larger size was last tried. */
  readonly triedAt: Instant;
  /** The provider's words, without secrets. */
  readonly words: string;
}

/** The size of one part of the requests to one provider, learned from what it accepts and refuses. */
interface SizeLimit {
  /** Returns the largest size to ask for. Every `retryMs` it is doubled, because providers change their limits. */
  current(): number;
  accepted(size: number): void;
  /** Goes back to an accepted size, or halves the refused one; returns false if that cannot shrink. */
  refused(size: number, words: string): boolean;
  /**
   * Notes a failure that need not be due to the size. The second one of a size that was not accepted in between counts
   * as a refusal.
   */
  uncertain(size: number, words: string): void;
  /** Returns the limit; null if the provider refused nothing. */
  learned(): LearnedLimit | null;
  resume(stored: LearnedLimit): void;
}

/** How long a learned limit is kept before a larger size is tried, in milliseconds. */
const retryMs = 10 * minute;
/** The factor by which an accepted size grows, up to the refused one. */
const growth = 1.5;

function makeSizeLimit(options: {
  readonly part: LimitedPart;
  readonly most: number;
  readonly clock: Clock;
}): SizeLimit {
  const { part, most, clock } = options;
  let learned: LearnedLimit | null = null;
  let uncertainSize: number | null = null;
  /** The largest size that was accepted since one as small was refused; 0: none. */
  let acceptedSize = 0;

  function grow(limit: LearnedLimit): void {
    learned = limit.most >= most ? null : limit;
  }

  function refused(size: number, words: string): boolean {
    uncertainSize = null;
    if (size <= 1) return false;
    if (acceptedSize >= size) acceptedSize = 0;
    const smaller = acceptedSize > 0 ? acceptedSize : Math.floor(size / 2);
    learned = {
      part,
      most: Math.min(smaller, learned?.most ?? most),
      refusedSize: size,
      triedAt: clock.now(),
      words,
    };
    return true;
  }

  return {
    current() {
      const now = clock.now();
      // The absolute difference also ends the wait if the clock was set back.
      if (learned !== null && Math.abs(now - learned.triedAt) >= retryMs) {
        grow({ ...learned, most: learned.most * 2, refusedSize: null, triedAt: now });
      }
      return learned?.most ?? most;
    },
    accepted(size) {
      if (uncertainSize !== null && size >= uncertainSize) uncertainSize = null;
      acceptedSize = Math.max(acceptedSize, size);
      if (learned === null || size < learned.most) return;
      const below = learned.refusedSize === null ? Infinity : learned.refusedSize - 1;
      const larger = Math.min(Math.ceil(learned.most * growth), below);
      if (larger > learned.most) grow({ ...learned, most: larger });
    },
    refused,
    uncertain(size, words) {
      if (uncertainSize !== null && size >= uncertainSize) refused(size, words);
      else if (size > 1) uncertainSize = size;
    },
    learned: () => learned,
    resume(stored) {
      if (stored.part === part && stored.most < most) learned = stored;
    },
  };
}

/** The limits of one provider, and its speed. */
export interface ProviderLimits {
  readonly calls: SizeLimit;
  readonly blocks: SizeLimit;
  readonly recipients: SizeLimit;
  readonly contracts: SizeLimit;
  readonly requestsPerSecond: SizeLimit;
  /** Notes the beginning of a request; the returned function notes that the whole response was read. */
  began(): () => void;
  /** Notes that the provider received too many requests: the rate is halved, if it was more than one in a second. */
  rateRefused(words: string): void;
  /**
   * True if its responses take long: from a smoothed time of `slowMs` on, until it is below half of that. Waiting times
   * that Till imposes on itself do not count.
   */
  isSlow(): boolean;
  learned(): readonly LearnedLimit[];
  resume(stored: readonly LearnedLimit[]): void;
}

/** The smoothed time of a response from which a provider is slow, in milliseconds. */
export const slowMs = 5 * second;
/** The weight of the newest response in the smoothed time. */
const smoothing = 0.2;
/** The limit of java-tron; other nodes accept at least as many, or refuse. */
const recipientsMax = 1_000;

export function makeProviderLimits(deps: {
  readonly clock: Clock;
  /** The largest number of calls in one request. */
  readonly batchMax: number;
  readonly requestsPerSecond: number;
  readonly network: { readonly maxLogRange: number; readonly tokens: readonly unknown[] };
}): ProviderLimits {
  const { clock, network } = deps;
  const part = (name: LimitedPart, most: number) => makeSizeLimit({ part: name, most, clock });
  const sizes = {
    calls: part("calls", deps.batchMax),
    blocks: part("blocks", network.maxLogRange),
    recipients: part("recipients", recipientsMax),
    contracts: part("contracts", Math.max(1, network.tokens.length)),
    requestsPerSecond: part("requestsPerSecond", deps.requestsPerSecond),
  };
  let begunAt: Instant[] = [];
  let tookMs: number | null = null;
  let isSlow = false;
  return {
    ...sizes,
    began() {
      const begun = clock.now();
      begunAt = [...begunAt.filter((at) => Math.abs(begun - at) < second), begun];
      return () => {
        const newest = Math.max(0, clock.now() - begun);
        tookMs = tookMs === null ? newest : tookMs + (newest - tookMs) * smoothing;
        isSlow = isSlow ? tookMs >= slowMs / 2 : tookMs >= slowMs;
      };
    },
    rateRefused(words) {
      const { length } = begunAt.filter((at) => Math.abs(clock.now() - at) < second);
      sizes.requestsPerSecond.refused(Math.min(length, sizes.requestsPerSecond.current()), words);
    },
    isSlow: () => isSlow,
    learned: () => Object.values(sizes).flatMap((size) => size.learned() ?? []),
    resume(stored) {
      // Another version of the program may know other parts.
      const known = new Map<string, SizeLimit>(Object.entries(sizes));
      for (const limit of stored) known.get(limit.part)?.resume(limit);
    },
  };
}

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
