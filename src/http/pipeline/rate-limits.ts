import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { addressGroups } from "../client-address.ts";
import { RateLimited } from "../declare/problems.ts";

/** The key and the window of a rate limit. */
interface Limit {
  readonly by: "credential" | "organization" | "client" | "checkout" | "checkoutRange";
  readonly seconds: number;
}

/** The quota of `batch`, which is not a setting. A kept response of a batch is up to 250 KB. */
export const batchesPerMinute = 60;

/** The quota of `verify`, which is not a setting. */
export const verificationsPerMinute = 60;

/**
 * The quotas of `link`, per client address in ten minutes, and of `linkInvoices`, per link and hour, which are not
 * settings. Each payment holds an amount or an address of the merchant for a while: neither one visitor nor many take
 * all of them. The guests of a shop share an address.
 */
export const linkPaymentsPerClient = 20;
export const linkPaymentsPerHour = 300;

/**
 * The quota of `linkRange`, per link, hour, and range of client addresses: an IPv6 /48 or an IPv4 /24. One range must not
 * use up the quota of a link. A setting would say little: the guests of a shop rarely start more payments in an hour.
 */
export const linkPaymentsPerRange = 100;

/** The quota of `exports`, which is not a setting. Each export may read a million rows. */
export const exportsPerMinute = 10;

/** The rate limits that operations and pages name. Each process counts separately. */
export const rateLimits = {
  /** Every operation with a credential that names no other limit, per credential. */
  credential: { by: "credential", seconds: 60 },
  /**
   * All keys and members of an organization together, in addition to the limit of each; `newOrganization` before the
   * approval. The server's time is shared by organizations, which make as many keys as they like.
   */
  organization: { by: "organization", seconds: 60 },
  newOrganization: { by: "organization", seconds: 60 },
  /** Requests that create up to a hundred objects. */
  batch: { by: "credential", seconds: 60 },
  /** CSV files of whole lists. */
  exports: { by: "credential", seconds: 60 },
  /** Viewing a checkout. By checkout, because many payers may share an address: a shop's Wi-Fi, a mobile network. */
  checkout: { by: "checkout", seconds: 60 },
  /** Submitting a transaction hash. */
  submit: { by: "client", seconds: 60 },
  /** Verifying a signed text without a script. */
  verify: { by: "client", seconds: 60 },
  /** Starting payments from payment links. */
  link: { by: "client", seconds: 600 },
  /** Starting payments from one payment link. */
  linkInvoices: { by: "checkout", seconds: 3_600 },
  /** Starting payments from one payment link and one range of client addresses. */
  linkRange: { by: "checkoutRange", seconds: 3_600 },
  login: { by: "client", seconds: 60 },
  /** Refreshing and ending sessions. */
  session: { by: "client", seconds: 60 },
  registration: { by: "client", seconds: 3_600 },
} as const satisfies Record<string, Limit>;

export type RateLimitName = keyof typeof rateLimits;

interface RateLimitState {
  readonly name: RateLimitName;
  readonly quota: number;
  readonly windowSeconds: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

export interface RateLimiter {
  /** Counts a call; returns null if rate limits are off. Throws RateLimitExceeded with the state for the headers. */
  count(name: RateLimitName, key: string): Promise<RateLimitState | null>;
}

export class RateLimitExceeded extends RateLimited {
  readonly state: RateLimitState;
  constructor(state: RateLimitState) {
    super(`Wait ${String(state.resetSeconds)} seconds before the next request of this kind.`, {
      retryAfterSeconds: state.resetSeconds,
    });
    this.state = state;
  }
}

/**
 * The quotas of a /56, and of a /48 or an IPv4 /24, in quotas of one client: whoever has a range of many addresses cannot
 * send as many requests as their owners.
 */
const widerQuotas = [4, 16];

interface Limiters {
  readonly single: RateLimiterMemory;
  /** In the order of `widerQuotas`. */
  readonly wider: readonly RateLimiterMemory[];
}

/** Creates rate limits kept in this process. `scale` multiplies every quota; 0 switches rate limits off. */
export function createRateLimiter(
  quotas: Readonly<Record<RateLimitName, number>>,
  scale: number,
): RateLimiter {
  if (scale === 0) return { count: () => Promise.resolve(null) };
  const made = new Map<RateLimitName, Limiters>();
  function limitersOf(name: RateLimitName): Limiters {
    const known = made.get(name);
    if (known !== undefined) return known;
    const quota = Math.max(1, Math.floor(quotas[name] * scale));
    const limiterOf = (times: number) =>
      new RateLimiterMemory({ points: quota * times, duration: rateLimits[name].seconds });
    const limiters = { single: limiterOf(1), wider: widerQuotas.map(limiterOf) };
    made.set(name, limiters);
    return limiters;
  }

  return {
    async count(name, key) {
      const { single, wider } = limitersOf(name);
      const [counter, ...ranges] = countersOf(rateLimits[name].by, key);
      const state = await consume(name, single, counter);
      // An IPv4 address is in one range only, the widest.
      const offset = wider.length - ranges.length;
      const wide = await Promise.all(
        ranges.map((range, index) => consume(name, wider[index + offset] ?? single, range)),
      );
      return wide.reduce((least, one) => (one.remaining < least.remaining ? one : least), state);
    },
  };
}

/** Counts a call, and returns the state of its counter. Throws RateLimitExceeded. */
async function consume(
  name: RateLimitName,
  limiter: RateLimiterMemory,
  counter: string,
): Promise<RateLimitState> {
  const state = ({ remainingPoints, msBeforeNext }: RateLimiterRes): RateLimitState => ({
    name,
    quota: limiter.points,
    windowSeconds: rateLimits[name].seconds,
    remaining: Math.max(0, remainingPoints),
    resetSeconds: Math.max(1, Math.ceil(msBeforeNext / 1_000)),
  });
  try {
    return state(await limiter.consume(counter));
  } catch (refused) {
    if (refused instanceof RateLimiterRes) throw new RateLimitExceeded(state(refused));
    throw refused;
  }
}

/** The number of counters that checkouts share, so that made-up ids do not fill the memory. */
const checkoutCounters = 65_536;

/** Returns the 32-bit FNV-1a hash of a text. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

/** Returns the counters of a call: one, or those of the ranges that a client's address is in, the smallest first. */
function countersOf(by: Limit["by"], key: string): readonly [string, ...string[]] {
  switch (by) {
    case "credential":
    case "organization":
      return [key];
    case "client":
      return addressGroups(key);
    case "checkout":
      return [String(hashOf(key) % checkoutCounters)];
    case "checkoutRange": {
      const [subject = "", address = ""] = key.split(" ");
      return [
        `${String(hashOf(subject) % checkoutCounters)} ${addressGroups(address).at(-1) ?? ""}`,
      ];
    }
  }
}

/** Returns the headers of the IETF RateLimit draft. */
export function rateLimitHeaders(state: RateLimitState): Record<string, string> {
  return {
    "RateLimit-Policy": `"${state.name}";q=${String(state.quota)};w=${String(state.windowSeconds)}`,
    RateLimit: `"${state.name}";r=${String(state.remaining)};t=${String(state.resetSeconds)}`,
  };
}
