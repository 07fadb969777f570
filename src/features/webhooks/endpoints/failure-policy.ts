import { hour, type Instant } from "../../../kernel/clock.ts";

/** Failure state of an endpoint since its last success. */
export interface FailingState {
  /** Time of the first failed attempt since the last success; null without one. */
  readonly failingSince: Instant | null;
  /** Number of notices sent. */
  readonly failingNotices: number;
  /** Time when the first delivery since then was given up. */
  readonly firstGivenUpAt: Instant | null;
}

export const notFailing: FailingState = {
  failingSince: null,
  failingNotices: 0,
  firstGivenUpAt: null,
};

/** Failure durations after which the organization's other endpoints are notified. */
export const noticesAfter: readonly number[] = [24 * hour, 72 * hour];
/** Failure duration after which an endpoint is disabled, if the next condition also holds. */
export const disabledAfter = 120 * hour;
/** Minimum time between two deliveries that were given up, so that a single bad event does not disable an endpoint. */
export const givenUpApart = 12 * hour;

/** Failures of an endpoint since the state was written, without any success. */
export interface Failures {
  readonly now: Instant;
  /** Start of the first of these attempts. */
  readonly firstAt: Instant;
  /** Whether a delivery was given up. */
  readonly hasGivenUp: boolean;
}

export interface FailingVerdict {
  readonly state: FailingState;
  /** Whether the other endpoints must be notified. */
  readonly isNotice: boolean;
  readonly disables: boolean;
}

/** Returns the state after further failures, and the resulting actions. */
export function failOn(
  before: FailingState,
  { now, firstAt, hasGivenUp }: Failures,
): FailingVerdict {
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
    },
    isNotice: due > before.failingNotices,
    disables,
  };
}
