import { minute, second, type Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Attempt } from "./attempt.ts";
import { isSuccess, isThrottled } from "./retry-policy.ts";

/** A deliverer's knowledge of an endpoint from its own attempts. Unknown endpoints count as healthy. */
export interface Health {
  /** Number of concurrent requests: one more after each success, halved when the receiver is overloaded. */
  readonly concurrency: number;
  /** The latest attempts, newest last. */
  readonly recent: readonly { readonly at: Instant; readonly isGood: boolean }[];
  /** End of the postponement; until then nothing is sent, after it a single attempt probes. Null if not postponed. */
  readonly openUntil: Instant | null;
  /** Duration of the last postponement, in milliseconds. */
  readonly openMs: number;
}

export interface Observation {
  readonly at: Instant;
  readonly isGood: boolean;
  readonly isThrottled: boolean;
}

/** Concurrent requests per endpoint: maximum and initial value. */
export const endpointConcurrencyMax = 8;
const endpointConcurrencyStart = 4;
/** Maximum number of deliveries of one endpoint per claim. */
export const leasesPerEndpointMax = 4;
const recentMax = 20;
const windowMs = 5 * minute;
const observedMin = 10;
const badShare = 0.7;
export const openMin = 30 * second;
/** The longest postponement: a receiver that is back waits at most this long for its deliveries. */
export const openMax = 2 * minute;
/** How long the health of an endpoint without attempts is kept. */
const rememberedFor = 30 * minute;

/** Number of endpoints with cached health at which outdated entries are removed. */
const rememberedMax = 1_000;

export const goodHealth: Health = {
  concurrency: endpointConcurrencyStart,
  recent: [],
  openUntil: null,
  openMs: 0,
};

/**
 * Returns the health after an attempt. If at least 70 % of at least ten attempts in five minutes failed, the endpoint
 * is postponed.
 */
export function observe(health: Health, { at, isGood, isThrottled }: Observation): Health {
  const recent = [...health.recent, { at, isGood }]
    .filter((attempt) => at - attempt.at < windowMs)
    .slice(-recentMax);
  if (isGood) {
    const concurrency = Math.min(health.concurrency + 1, endpointConcurrencyMax);
    // One success ends the postponement and clears earlier failures; otherwise the next failure would renew it.
    return health.openUntil === null
      ? { ...health, concurrency, recent }
      : { ...goodHealth, concurrency: 1 };
  }
  const concurrency = isThrottled
    ? Math.max(1, Math.floor(health.concurrency / 2))
    : health.concurrency;
  if (health.openUntil !== null) {
    // Attempts started before the postponement provide no new information.
    if (at < health.openUntil) return { ...health, concurrency, recent };
    const openMs = Math.min(2 * health.openMs, openMax);
    return { concurrency, recent, openMs, openUntil: at + openMs };
  }
  const bad = recent.filter((attempt) => !attempt.isGood).length;
  const isFailing = recent.length >= observedMin && bad >= badShare * recent.length;
  return isFailing
    ? { concurrency, recent, openMs: openMin, openUntil: at + openMin }
    : { ...health, concurrency, recent };
}

/** Returns the allowed number of concurrent requests. */
export function allowance(health: Health, now: Instant): number {
  if (health.openUntil === null) return health.concurrency;
  return now < health.openUntil ? 0 : 1;
}

/** Whether the endpoint is postponed or its latest attempt failed. */
export function isTroubled(health: Health): boolean {
  return health.openUntil !== null || health.recent.at(-1)?.isGood === false;
}

/** Whether the information is outdated. */
export function isForgettable(health: Health, now: Instant): boolean {
  return (
    (health.openUntil === null || now - health.openUntil >= rememberedFor) &&
    health.recent.every((attempt) => now - attempt.at >= windowMs)
  );
}

/** The health of all endpoints to which this process sent lately. */
export interface EndpointHealth {
  readonly of: (endpointId: Id<"webhookEndpoint">) => Health;
  /** Updates the endpoints' health; returns those whose postponement has just started or been extended. */
  learn(attempts: readonly Attempt[], now: Instant): Set<Id<"webhookEndpoint">>;
}

export function createEndpointHealth(): EndpointHealth {
  const known = new Map<Id<"webhookEndpoint">, Health>();
  const of = (endpointId: Id<"webhookEndpoint">): Health => known.get(endpointId) ?? goodHealth;

  return {
    of,
    learn(attempts, now) {
      const postponed = new Set<Id<"webhookEndpoint">>();
      for (const { delivery, result, endedAt } of attempts) {
        const before = of(delivery.endpointId);
        const after = observe(before, {
          at: endedAt,
          isGood: isSuccess(result),
          isThrottled: isThrottled(result),
        });
        known.set(delivery.endpointId, after);
        if (after.openUntil !== null && after.openUntil !== before.openUntil) {
          postponed.add(delivery.endpointId);
        }
      }
      if (known.size > rememberedMax) {
        for (const [endpointId, health] of known) {
          if (isForgettable(health, now)) known.delete(endpointId);
        }
      }
      return postponed;
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
}

export interface Capacity<EndpointId extends string> {
  readonly now: Instant;
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
  const { now, health, pace, underWay } = capacity;
  const backlogs = demands
    .map(({ endpointId, dueAt, isRetry }) => {
      const known = health(endpointId);
      const room = Math.min(allowance(known, now) - underWay(endpointId), pace(endpointId));
      return { endpointId, dueAt, room, isTroubled: isRetry || isTroubled(known) };
    })
    .filter(({ room }) => room > 0)
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
