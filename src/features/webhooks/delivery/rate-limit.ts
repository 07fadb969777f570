import { second, type Instant } from "../../../kernel/clock.ts";

/** A token bucket per endpoint, in this process: a burst of up to one second's requests, then an even rate. */
export interface EndpointRateLimit<EndpointId extends string> {
  /** Returns the number of requests that may be started now. */
  available(endpointId: EndpointId, now: Instant): number;
  spend(endpointId: EndpointId, count: number, now: Instant): void;
  /** Time until an exhausted endpoint may send its next request, in milliseconds. */
  readonly intervalMs: number;
}

interface TokenBucket {
  readonly left: number;
  readonly at: Instant;
}

/** Number of stored buckets at which full ones are removed. */
const rememberedMax = 1_000;

/** Creates the buckets; with `perSecond` 0 there is no limit. */
export function createEndpointRateLimit<EndpointId extends string>(
  perSecond: number,
): EndpointRateLimit<EndpointId> {
  const buckets = new Map<EndpointId, TokenBucket>();
  if (perSecond === 0) {
    return { available: () => Infinity, spend: () => undefined, intervalMs: 0 };
  }

  function leftOf(endpointId: EndpointId, now: Instant): number {
    const bucket = buckets.get(endpointId);
    // A clock that was set back must not make an endpoint wait until it has caught up.
    if (bucket === undefined || bucket.at > now) return perSecond;
    const earned = ((now - bucket.at) * perSecond) / second;
    return Math.min(perSecond, bucket.left + earned);
  }

  return {
    available: (endpointId, now) => Math.floor(leftOf(endpointId, now)),
    spend(endpointId, count, now) {
      buckets.set(endpointId, { left: leftOf(endpointId, now) - count, at: now });
      if (buckets.size <= rememberedMax) return;
      for (const [rested, { at }] of buckets) if (now - at >= second) buckets.delete(rested);
    },
    intervalMs: second / perSecond,
  };
}
