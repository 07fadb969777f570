import { minute, second, type Instant } from "../../kernel/clock.ts";

/** What a deliverer knows of one endpoint from its own attempts. Nothing known is good health. */
export interface Health {
  /** Requests at once: one more for each success, half as many when the receiver is out of breath. */
  readonly concurrency: number;
  /** The latest attempts, the newest last. */
  readonly recent: readonly { readonly at: Instant; readonly isGood: boolean }[];
  /** While it lies ahead nothing is sent; after it one attempt probes. Null: the endpoint is not postponed. */
  readonly openUntil: Instant | null;
  /** How long it was postponed for. */
  readonly openMs: number;
}

export interface Observation {
  readonly at: Instant;
  readonly isGood: boolean;
  readonly isThrottled: boolean;
}

/** Requests to one endpoint at once, at most and to begin with. */
export const endpointConcurrencyMax = 8;
const endpointConcurrencyStart = 4;
/** Deliveries of one endpoint in one claim. */
export const claimPerEndpointMax = 4;
const recentMax = 20;
const windowMs = 5 * minute;
const observedMin = 10;
const badShare = 0.7;
const openMin = 30 * second;
const openMax = 30 * minute;

export const goodHealth: Health = {
  concurrency: endpointConcurrencyStart,
  recent: [],
  openUntil: null,
  openMs: 0,
};

/** The health after an attempt. Ten attempts in five minutes of which seven in ten failed postpone the endpoint. */
export function observe(health: Health, { at, isGood, isThrottled }: Observation): Health {
  const recent = [...health.recent, { at, isGood }]
    .filter((attempt) => at - attempt.at < windowMs)
    .slice(-recentMax);
  if (isGood) {
    const concurrency = Math.min(health.concurrency + 1, endpointConcurrencyMax);
    // One success ends the postponement; what failed before it is forgotten, or the next failure would renew it.
    return health.openUntil === null
      ? { ...health, concurrency, recent }
      : { ...goodHealth, concurrency: 1 };
  }
  const concurrency = isThrottled
    ? Math.max(1, Math.floor(health.concurrency / 2))
    : health.concurrency;
  if (health.openUntil !== null) {
    // Attempts that were under way when the endpoint was postponed say nothing new.
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

/** Requests that may be under way at once now. */
export function allowance(health: Health, now: Instant): number {
  if (health.openUntil === null) return health.concurrency;
  return now < health.openUntil ? 0 : 1;
}

/** Whether the latest attempt failed. */
export function isTroubled(health: Health): boolean {
  return health.openUntil !== null || health.recent.at(-1)?.isGood === false;
}

/** Whether it is too long ago to go by. */
export function isForgettable(health: Health, now: Instant): boolean {
  return (
    (health.openUntil === null || now - health.openUntil >= openMax) &&
    health.recent.every((attempt) => now - attempt.at >= windowMs)
  );
}

/** An endpoint with deliveries that are due. */
export interface Demand<EndpointId extends string> {
  readonly endpointId: EndpointId;
  /** It is one to try again: it failed before, or everything has failed there for a while. */
  readonly isRetry: boolean;
  /** Since when the oldest is due. */
  readonly dueAt: Instant;
}

export interface Capacity<EndpointId extends string> {
  readonly now: Instant;
  /** Requests that may be started in all. */
  readonly free: number;
  /** Those of them that endpoints in trouble may take: the rest waits for the others' fresh events. */
  readonly freeForTroubled: number;
  /** What one claim takes at most. */
  readonly batchMax: number;
  readonly health: (endpointId: EndpointId) => Health;
  /** Requests that the endpoint's pace lets start now. */
  readonly pace: (endpointId: EndpointId) => number;
  readonly underWay: (endpointId: EndpointId) => number;
}

/**
 * How many deliveries of which endpoint to claim: endpoints in good health with fresh events first, then by the time they wait; each gets
 * one before any gets its second.
 */
export function allot<EndpointId extends string>(
  demands: readonly Demand<EndpointId>[],
  capacity: Capacity<EndpointId>,
): Map<EndpointId, number> {
  const { now, health, pace, underWay } = capacity;
  const lanes = demands
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
  for (let round = 1; round <= claimPerEndpointMax; round += 1) {
    for (const lane of lanes) {
      if (free <= 0) return allotted;
      if (lane.room < round || (lane.isTroubled && freeForTroubled <= 0)) continue;
      allotted.set(lane.endpointId, round);
      free -= 1;
      if (lane.isTroubled) freeForTroubled -= 1;
    }
  }
  return allotted;
}
