import { hour, minute, second } from "../../kernel/clock.ts";
import type { OutboundResult } from "../../platform/outbound/sender.ts";

/** How long after the attempt before it each attempt is made, at the earliest: twelve attempts in 75:42:35. */
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

/** However long an endpoint is postponed, a delivery that is older than this is given up when one more attempt fails. */
export const deliveryLifeMax = 76 * hour;

const jitterShare = 0.2;
const jitterMin = 1 * second;
const jitterMax = 15 * minute;
/** What a receiver that is out of breath is given at least. */
const throttledMin = 60 * second;
/** A receiver may ask for this much patience, though the schedule would be quicker. */
const askedMin = 1 * hour;

export interface Retry {
  /** The attempts that were made, the failed one with them. */
  readonly attempts: number;
  /** The receiver is overloaded or silent. */
  readonly isThrottled: boolean;
  /** What the receiver asks for; null when it does not. */
  readonly askedMs: number | null;
  /** A random number from 0 up to 1. */
  readonly chance: number;
}

/** How long to wait before the next attempt; null when there is none left. Never less than the schedule says. */
export function retryDelay({ attempts, isThrottled, askedMs, chance }: Retry): number | null {
  const base = attemptDelays[attempts];
  if (base === undefined) return null;
  const asked = Math.min(Math.max(askedMs ?? 0, base), Math.max(2 * base, askedMin));
  const wait = Math.max(asked, isThrottled ? throttledMin : 0);
  const spread = Math.min(Math.max(wait * jitterShare, jitterMin), jitterMax);
  return wait + Math.floor(spread * chance);
}

/** What an attempt means for its delivery. */
export type Verdict =
  | { readonly kind: "succeeded" }
  | { readonly kind: "retry"; readonly delayMs: number; readonly reason: string }
  | { readonly kind: "dead"; readonly reason: string; readonly disables: boolean };

/** Judges an attempt's result; `attempts` counts it too. */
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

/** Whether the receiver is silent or says that it has too much to do. */
export function isThrottled(result: OutboundResult): boolean {
  return result.outcome === "error"
    ? result.kind === "timeout"
    : [429, 502, 504].includes(result.status);
}

function isGone(result: OutboundResult): boolean {
  return result.outcome === "response" && result.status === 410;
}

/** What no repetition mends: a name that resolves to a private address was changed after it had been vetted. */
function isPermanent(result: OutboundResult): boolean {
  return result.outcome === "error" && (result.kind === "blocked" || result.kind === "invalid_url");
}

function askedWait(result: OutboundResult): number | null {
  return result.outcome === "response" && [429, 503].includes(result.status)
    ? result.retryAfterMs
    : null;
}

/** For the merchant; the body of the answer stays with the operator. */
function reasonOf(result: OutboundResult): string {
  if (result.outcome === "error") return result.message;
  const status = String(result.status);
  if (result.status === 410) return "The receiver answered 410 Gone, so the endpoint was disabled.";
  if (result.status >= 300 && result.status < 400) {
    return `The receiver answered ${status}. Redirects are not followed: give the final URL.`;
  }
  return `The receiver answered ${status}.`;
}
