import { hour, minute, second } from "../../../kernel/clock.ts";
import type { OutboundResult } from "../../../platform/outbound/sender.ts";

/**
 * Minimum delay before each attempt, from the previous one; the index is the number of attempts made. The twelfth is made
 * at least 75 h 42 min 35 s after the first.
 */
export const attemptDelays: readonly number[] = [
  0,
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];

/**
 * Age at which the waiting deliveries of a paused endpoint are given up. Others end with their attempts, which may take
 * longer if the receiver asks for pauses.
 */
export const deliveryLifeMax = 76 * hour;

const jitterShare = 0.2;
const jitterMin = 1 * second;
const jitterMax = 15 * minute;
/** Minimum delay for an overloaded receiver. */
const throttledMin = 60 * second;
/** Retry-After is respected up to this delay, or up to twice the scheduled one if that is longer. */
const retryAfterCapMin = 1 * hour;

interface Retry {
  /** Number of attempts so far, including the failed one. */
  readonly attempts: number;
  /** True if the receiver is overloaded or does not respond. */
  readonly isThrottled: boolean;
  /** Delay requested by the receiver; null if none. */
  readonly askedMs: number | null;
  /** A random number from 0, inclusive, to 1, exclusive. */
  readonly chance: number;
}

/** Returns the delay before the next attempt, never less than scheduled; null if there are no attempts left. */
export function retryDelay({ attempts, isThrottled, askedMs, chance }: Retry): number | null {
  const base = attemptDelays[attempts];
  if (base === undefined) return null;
  const requested = Math.min(Math.max(askedMs ?? 0, base), Math.max(2 * base, retryAfterCapMin));
  const wait = Math.max(requested, isThrottled ? throttledMin : 0);
  const spread = Math.min(Math.max(wait * jitterShare, jitterMin), jitterMax);
  return wait + Math.floor(spread * chance);
}

/** How many attempts of a delivery are shown; those ahead of the schedule can be many more than the scheduled ones. */
export const shownAttemptsMax = 100;

/** The longest time that `retryDelay` returns. */
export const retryDelayMax = 2 * Math.max(...attemptDelays) + jitterMax;

/** The consequence of an attempt for its delivery. */
export type Verdict =
  | { readonly kind: "succeeded" }
  | { readonly kind: "retry"; readonly delayMs: number; readonly reason: string }
  | { readonly kind: "dead"; readonly reason: string; readonly disables: boolean };

/**
 * Decides whether a delivery has succeeded, is retried or is given up after an attempt. `attempts` includes it, without
 * those made ahead of the schedule.
 */
export function judge(result: OutboundResult, attempts: number, chance: number): Verdict {
  if (isSuccess(result)) return { kind: "succeeded" };
  const reason = reasonOf(result);
  if (isGone(result)) return { kind: "dead", reason, disables: true };
  if (isPermanent(result)) return { kind: "dead", reason, disables: false };
  const delayMs = retryDelay({
    attempts,
    isThrottled: isThrottled(result),
    askedMs: askedWait(result),
    chance,
  });
  return delayMs === null
    ? { kind: "dead", reason, disables: false }
    : { kind: "retry", delayMs, reason };
}

export function isSuccess(result: OutboundResult): boolean {
  return result.outcome === "response" && result.status >= 200 && result.status < 300;
}

/** Whether the receiver timed out or reports overload. */
export function isThrottled(result: OutboundResult): boolean {
  return result.outcome === "error"
    ? result.kind === "timeout"
    : [429, 502, 504].includes(result.status);
}

function isGone(result: OutboundResult): boolean {
  return result.outcome === "response" && result.status === 410;
}

/** Whether retrying is pointless: the URL is invalid, or its name resolves to a private address since it was vetted. */
function isPermanent(result: OutboundResult): boolean {
  return result.outcome === "error" && (result.kind === "blocked" || result.kind === "invalid_url");
}

function askedWait(result: OutboundResult): number | null {
  return result.outcome === "response" && [429, 503].includes(result.status)
    ? result.retryAfterMs
    : null;
}

/** The longest time for which a lone attempt respects Retry-After. */
export const restAskedMax = retryAfterCapMin;

/** Returns the delay that the receiver asked for, in milliseconds, as far as lone attempts respect it; 0 if none. */
export function restAsked(result: OutboundResult): number {
  return Math.min(askedWait(result) ?? 0, restAskedMax);
}

/** Returns the reason shown to the merchant, without the response body, which only the operator may see. */
function reasonOf(result: OutboundResult): string {
  if (result.outcome === "error") return result.message;
  const status = String(result.status);
  if (result.status === 410)
    return "The receiver responded with 410 Gone, so the endpoint was disabled.";
  if (result.status >= 300 && result.status < 400) {
    return `The receiver responded with ${status}. Redirects are not followed; use the final URL.`;
  }
  const oddity = result.oddity === null ? "" : ` ${result.oddity}`;
  return `The receiver responded with ${status}.${oddity}`;
}
