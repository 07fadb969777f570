import { second, type Instant } from "../../kernel/clock.ts";

/**
 * How many requests a second each endpoint is sent: as many at once as a second has, then evenly. It counts in this
 * process.
 */
export interface Pace<EndpointId extends string> {
  /** Requests that may be started now. */
  available(endpointId: EndpointId, now: Instant): number;
  spend(endpointId: EndpointId, count: number, now: Instant): void;
  /** How long until an endpoint that has used its requests up has one again. */
  readonly intervalMs: number;
}

interface Purse {
  readonly left: number;
  readonly at: Instant;
}

/** Endpoints that are remembered before those that have rested are forgotten. */
const rememberedMax = 1_000;

/** `perSecond` 0: without a limit. */
export function createPace<EndpointId extends string>(perSecond: number): Pace<EndpointId> {
  const purses = new Map<EndpointId, Purse>();
  if (perSecond === 0) {
    return { available: () => Infinity, spend: () => undefined, intervalMs: 0 };
  }

  function leftOf(endpointId: EndpointId, now: Instant): number {
    const purse = purses.get(endpointId);
    if (purse === undefined) return perSecond;
    const earned = (Math.max(0, now - purse.at) * perSecond) / second;
    return Math.min(perSecond, purse.left + earned);
  }

  return {
    available: (endpointId, now) => Math.floor(leftOf(endpointId, now)),
    spend(endpointId, count, now) {
      purses.set(endpointId, { left: leftOf(endpointId, now) - count, at: now });
      if (purses.size <= rememberedMax) return;
      for (const [rested, { at }] of purses) if (now - at >= second) purses.delete(rested);
    },
    intervalMs: second / perSecond,
  };
}
