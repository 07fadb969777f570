import { second, type Instant } from "../../../kernel/clock.ts";

/** A token bucket per endpoint, in this process: a burst of up to one second's requests, then an even rate. */
export interface Pace<EndpointId extends string> {
  /** Returns the number of requests that may be started now. */
  available(endpointId: EndpointId, now: Instant): number;
  spend(endpointId: EndpointId, count: number, now: Instant): void;
  /** Time until an exhausted endpoint may send its next request, in milliseconds. */
  readonly intervalMs: number;
}

interface Purse {
  readonly left: number;
  readonly at: Instant;
}

/** Number of stored buckets at which full ones are removed. */
const rememberedMax = 1_000;

/** Creates the buckets; with `perSecond` 0 there is no limit. */
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
