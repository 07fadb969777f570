import { minute, type Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Attempt } from "./attempt.ts";
import { isSuccess, isThrottled } from "./retry-policy.ts";

/** A deliverer's knowledge of an endpoint from its own attempts. Unknown endpoints count as healthy. */
export interface Health {
  /** Number of concurrent requests: one more after each success, halved when the receiver is overloaded. */
  readonly concurrency: number;
  /** The latest attempts, newest last: at most 20, and none older than five minutes. */
  readonly recent: readonly { readonly at: Instant; readonly isGood: boolean }[];
}

export interface Observation {
  readonly at: Instant;
  readonly isGood: boolean;
  readonly isThrottled: boolean;
  /** True for a lone attempt at a failing endpoint. */
  readonly isLone: boolean;
}

/** Concurrent requests per endpoint: maximum and initial value. */
export const endpointConcurrencyMax = 8;
const endpointConcurrencyStart = 4;
/** Maximum number of deliveries of one endpoint per claim. */
export const leasesPerEndpointMax = 4;
/**
 * Maximum number of attempts that count, so that a failure is noticed soon however many attempts succeeded before it.
 */
const recentMax = 20;
/** Maximum age of attempts that count, in milliseconds. */
const windowMs = 5 * minute;
/** Number of attempts below which nothing is concluded. */
const observedMin = 10;
/** Share of failed attempts from which an endpoint is paused. */
const badShare = 0.7;

/** Number of endpoints with cached health at which outdated entries are removed. */
const rememberedMax = 1_000;

export const goodHealth: Health = { concurrency: endpointConcurrencyStart, recent: [] };

/** Returns the health after an attempt. */
export function observe(health: Health, { at, isGood, isThrottled, isLone }: Observation): Health {
  // A lone attempt that succeeds clears earlier failures; otherwise the next failure would pause the endpoint again.
  if (isGood && isLone) return { ...goodHealth, concurrency: 1 };
  const recent = [...health.recent, { at, isGood }]
    .filter((attempt) => at - attempt.at < windowMs)
    .slice(-recentMax);
  if (isGood) {
    return { concurrency: Math.min(health.concurrency + 1, endpointConcurrencyMax), recent };
  }
  const concurrency = isThrottled
    ? Math.max(1, Math.floor(health.concurrency / 2))
    : health.concurrency;
  return { concurrency, recent };
}

/**
 * Whether the endpoint must be paused: of its newest attempts, at least ten and at most 20 in five minutes, at least 70 %
 * failed, the last one included.
 */
export function isFailing({ recent }: Health): boolean {
  const bad = recent.filter((attempt) => !attempt.isGood).length;
  return (
    recent.at(-1)?.isGood === false &&
    recent.length >= observedMin &&
    bad >= badShare * recent.length
  );
}

/** Whether the latest attempt failed. */
export function isTroubled(health: Health): boolean {
  return health.recent.at(-1)?.isGood === false;
}

/** Counts the open requests of troubled endpoints, and the retries at all others. */
export function countTroubled<EndpointId extends string>(
  open: Iterable<readonly [EndpointId, { readonly count: number; readonly retries: number }]>,
  healthOf: (endpointId: EndpointId) => Health,
): number {
  let troubled = 0;
  for (const [endpointId, { count, retries }] of open) {
    troubled += isTroubled(healthOf(endpointId)) ? count : retries;
  }
  return troubled;
}

/** Whether the information is outdated. */
export function isForgettable(health: Health, now: Instant): boolean {
  return health.recent.every((attempt) => now - attempt.at >= windowMs);
}

/** The health of all endpoints to which this process sent lately. */
export interface EndpointHealth {
  readonly of: (endpointId: Id<"webhookEndpoint">) => Health;
  /** Updates the endpoints' health; returns those that must be paused, or stay paused. */
  learn(attempts: readonly Attempt[], now: Instant): Set<Id<"webhookEndpoint">>;
}

export function createEndpointHealth(): EndpointHealth {
  const known = new Map<Id<"webhookEndpoint">, Health>();
  const of = (endpointId: Id<"webhookEndpoint">): Health => known.get(endpointId) ?? goodHealth;

  return {
    of,
    learn(attempts, now) {
      const failing = new Set<Id<"webhookEndpoint">>();
      for (const { delivery, result, endedAt, isLone } of attempts) {
        const { endpointId } = delivery;
        const after = observe(of(endpointId), {
          at: endedAt,
          isGood: isSuccess(result),
          isThrottled: isThrottled(result),
          isLone,
        });
        known.set(endpointId, after);
        if (isFailing(after)) failing.add(endpointId);
        else failing.delete(endpointId);
      }
      if (known.size > rememberedMax) {
        for (const [endpointId, health] of known) {
          if (isForgettable(health, now)) known.delete(endpointId);
        }
      }
      return failing;
    },
  };
}

/** An endpoint with due deliveries. */
export interface Demand<EndpointId extends string> {
  readonly endpointId: EndpointId;
  /** True if its first delivery is a retry or the endpoint has been failing for a while. */
  readonly isRetry: boolean;
  /** Due time of its oldest delivery. */
  readonly dueAt: Instant;
  /** True if only a lone attempt is allowed, because the endpoint is failing. */
  readonly isLone: boolean;
}

export interface Capacity<EndpointId extends string> {
  /** Number of requests that may be started in total. */
  readonly free: number;
  /** Number of those that troubled endpoints may use; the rest is reserved for new events of the others. */
  readonly freeForTroubled: number;
  /** Maximum number of deliveries per claim. */
  readonly batchMax: number;
  readonly health: (endpointId: EndpointId) => Health;
  /** Returns the number of requests that the endpoint's rate limit allows now. */
  readonly pace: (endpointId: EndpointId) => number;
  readonly underWay: (endpointId: EndpointId) => number;
}

/**
 * Returns how many deliveries to claim per endpoint: healthy endpoints with new events first, then by waiting time.
 * Every endpoint gets one before any gets its second.
 */
export function scheduleDeliveries<EndpointId extends string>(
  demands: readonly Demand<EndpointId>[],
  capacity: Capacity<EndpointId>,
): Map<EndpointId, number> {
  const { health, pace, underWay } = capacity;
  const backlogs = demands
    .map(({ endpointId, dueAt, isRetry, isLone }) => {
      const known = health(endpointId);
      const allowed = isLone ? 1 : known.concurrency;
      const room = Math.min(allowed - underWay(endpointId), pace(endpointId));
      return { endpointId, dueAt, room, isTroubled: isRetry || isLone || isTroubled(known) };
    })
    .sort(
      (one, other) => Number(one.isTroubled) - Number(other.isTroubled) || one.dueAt - other.dueAt,
    );
  let free = Math.min(capacity.free, capacity.batchMax);
  let freeForTroubled = capacity.freeForTroubled;
  const allotted = new Map<EndpointId, number>();
  for (let round = 1; round <= leasesPerEndpointMax; round += 1) {
    for (const backlog of backlogs) {
      if (free <= 0) return allotted;
      if (backlog.room < round || (backlog.isTroubled && freeForTroubled <= 0)) continue;
      allotted.set(backlog.endpointId, round);
      free -= 1;
      if (backlog.isTroubled) freeForTroubled -= 1;
    }
  }
  return allotted;
}
