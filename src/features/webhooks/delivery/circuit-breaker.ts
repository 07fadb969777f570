import { minute, type Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Attempt } from "./deliverer.ts";
import { isSuccess, isThrottled } from "./retry-policy.ts";

/** A deliverer's knowledge of an endpoint from its own attempts. Unknown endpoints count as healthy. */
export interface Health {
  /** Number of concurrent requests: one more after each fast success, halved when the receiver is overloaded. */
  readonly concurrency: number;
  /** The latest attempts, newest last: at most 20, and none older than five minutes. */
  readonly recent: readonly Pick<Observation, "at" | "isGood" | "isSlow">[];
}

interface Observation {
  readonly at: Instant;
  readonly isGood: boolean;
  readonly isSlow: boolean;
  readonly isThrottled: boolean;
  /** True for a lone attempt at a failing endpoint. */
  readonly isLone: boolean;
}

/** Concurrent requests per endpoint: maximum and initial value. */
export const endpointConcurrencyMax = 8;
const endpointConcurrencyStart = 4;
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
export function observe(
  health: Health,
  { at, isGood, isSlow, isThrottled, isLone }: Observation,
): Health {
  const attempt = { at, isGood, isSlow };
  // A lone attempt that succeeds clears earlier failures; otherwise the next failure would pause the endpoint again.
  if (isGood && isLone) return { concurrency: 1, recent: isSlow ? [attempt] : [] };
  const recent = [...health.recent, attempt]
    .filter((earlier) => at - earlier.at < windowMs)
    .slice(-recentMax);
  if (isGood && isSlow) return { concurrency: health.concurrency, recent };
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

/**
 * Whether the latest attempt failed, or one of the newest was slow. A receiver that answers fast in between stays
 * troubled: otherwise it would get all slots again for each fast answer.
 */
export function isTroubled({ recent }: Health, now: Instant): boolean {
  return (
    recent.at(-1)?.isGood === false ||
    recent.some(({ at, isSlow }) => isSlow && Math.abs(now - at) < windowMs)
  );
}

/** Whether the information is outdated. */
export function isForgettable(health: Health, now: Instant): boolean {
  return health.recent.every((attempt) => now - attempt.at >= windowMs);
}

/** The health of all endpoints to which this process sent lately. */
interface EndpointHealth {
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
      for (const { delivery, result, endedAt, isLone, isSlow } of attempts) {
        const { endpointId } = delivery;
        const after = observe(of(endpointId), {
          at: endedAt,
          isGood: isSuccess(result),
          isSlow,
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
