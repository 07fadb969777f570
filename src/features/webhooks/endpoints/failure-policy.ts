import { hour, minute, second, type Instant } from "../../../kernel/clock.ts";

/** Failure state of an endpoint since its last success. */
export interface FailingState {
  /** Time of the first failed attempt since the last success; null without one. */
  readonly failingSince: Instant | null;
  /** Number of notices sent. */
  readonly failingNotices: number;
  /** Time when the first delivery since then was given up. */
  readonly firstGivenUpAt: Instant | null;
  /** Start of the pause; null unless the endpoint is paused. */
  readonly pausedSince: Instant | null;
  /** Time of the next lone attempt: while the endpoint is paused, the only one. Null if none is planned. */
  readonly probeAt: Instant | null;
  /** Why the last attempt failed; null if none has. */
  readonly lastFailure: string | null;
}

export const notFailing: FailingState = {
  failingSince: null,
  failingNotices: 0,
  firstGivenUpAt: null,
  pausedSince: null,
  probeAt: null,
  lastFailure: null,
};

/** Failure durations after which the organization's other endpoints are notified. */
export const noticesAfter: readonly number[] = [24 * hour, 72 * hour];
/** Failure duration after which an endpoint is disabled, if the next condition also holds. */
export const disabledAfter = 120 * hour;
/** Minimum time between two deliveries that were given up, so that a single bad event does not disable an endpoint. */
export const givenUpApart = 12 * hour;

/** Minimum delay between a failure and the next lone attempt. */
export const probeDelayMin = 30 * second;
/** Maximum of that delay, except if the receiver asks for more: a receiver that is back waits at most this long. */
const probeDelayMax = 2 * minute;
/** The delay as a share of the failure's duration, so that a recovery is noticed within a twentieth of it. */
const probeDelayShare = 1 / 20;
/**
 * How long lone attempts are made ahead of the schedule at an endpoint that is not paused: a single event that a
 * receiver refuses must not be sent for days.
 */
const unpausedProbesFor = 10 * minute;

/** Failures of an endpoint since the state was written, without any success. */
export interface Failures {
  readonly now: Instant;
  /** Start of the first of these attempts. */
  readonly firstAt: Instant;
  /** Whether a delivery was given up. */
  readonly hasGivenUp: boolean;
  /** Why the last of these attempts failed. */
  readonly reason: string | null;
  /** Whether so many attempts fail that the endpoint must be paused. */
  readonly isPausing: boolean;
  /** Whether the lone attempt was among them. */
  readonly hasProbed: boolean;
  /** Delay that the receiver asked for, in milliseconds. */
  readonly askedMs: number;
}

export interface FailingVerdict {
  readonly state: FailingState;
  /** Whether the other endpoints must be notified. */
  readonly isNotice: boolean;
  readonly disables: boolean;
}

/** Returns the state after further failures, and the resulting actions. */
export function failOn(before: FailingState, failures: Failures): FailingVerdict {
  const { now, firstAt, hasGivenUp, reason, isPausing } = failures;
  const failingSince = before.failingSince ?? firstAt;
  const firstGivenUpAt = before.firstGivenUpAt ?? (hasGivenUp ? now : null);
  const failedFor = now - failingSince;
  const due = noticesAfter.filter((after) => failedFor >= after).length;
  const disables =
    hasGivenUp &&
    failedFor >= disabledAfter &&
    firstGivenUpAt !== null &&
    now - firstGivenUpAt >= givenUpApart;
  return {
    state: {
      failingSince,
      failingNotices: Math.max(before.failingNotices, due),
      firstGivenUpAt,
      pausedSince: before.pausedSince ?? (isPausing ? now : null),
      probeAt: probeAfter(before, failures, failedFor),
      lastFailure: reason ?? before.lastFailure,
    },
    isNotice: due > before.failingNotices,
    disables,
  };
}

function probeAfter(
  { pausedSince, probeAt }: FailingState,
  { now, isPausing, hasProbed, askedMs }: Failures,
  failedFor: number,
): Instant | null {
  // Requests that were open when the pause began say nothing new.
  if (pausedSince !== null && !hasProbed) return probeAt;
  const isPaused = pausedSince !== null || isPausing;
  if (!isPaused && failedFor >= unpausedProbesFor) return null;
  return now + Math.max(probeDelay(failedFor), askedMs);
}

/** Returns the delay before the next lone attempt at an endpoint that has failed for a duration. */
export function probeDelay(failedFor: number): number {
  const share = Math.floor(failedFor * probeDelayShare);
  return Math.min(Math.max(share, probeDelayMin), probeDelayMax);
}

/** How old a delivery may be to be sent at once after a failure, as a multiple of the failure's duration. */
const broughtForwardShare = 20;

/**
 * Returns the maximum age of deliveries that are sent at once after a failure of this duration. An event that the
 * receiver refuses between others gets older than that, and then keeps its schedule.
 */
export function broughtForwardAge(failedFor: number): number {
  return broughtForwardShare * failedFor;
}

/** Returns the end of a pause, when a lone attempt is made; null if the endpoint is not paused. */
export function pausedUntil({
  pausedSince,
  probeAt,
}: Pick<FailingState, "pausedSince" | "probeAt">): Instant | null {
  return pausedSince === null ? null : probeAt;
}
