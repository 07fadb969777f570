import { hour, type Instant } from "../../kernel/clock.ts";

/** What is kept with an endpoint of the time since its last success. */
export interface FailingState {
  /** When the first attempt after it failed; null while all is well. */
  readonly failingSince: Instant | null;
  /** Of the notices, how many were given. */
  readonly failingNotices: number;
  /** When the first delivery since then was given up. */
  readonly firstGivenUpAt: Instant | null;
}

export const notFailing: FailingState = {
  failingSince: null,
  failingNotices: 0,
  firstGivenUpAt: null,
};

/** How long an endpoint has failed when the organization's other endpoints are told. */
export const noticesAfter: readonly number[] = [24 * hour, 72 * hour];
/** An endpoint that had no success for so long is disabled, */
export const disabledAfter = 120 * hour;
/** when two deliveries so far apart were given up: one bad event alone disables nothing. */
export const givenUpApart = 12 * hour;

/** What was seen of an endpoint since the state was written, all of it failures. */
export interface Failures {
  readonly now: Instant;
  /** When the first of the attempts was made. */
  readonly firstAt: Instant;
  /** Whether a delivery was given up. */
  readonly hasGivenUp: boolean;
}

export interface FailingVerdict {
  readonly state: FailingState;
  /** The others are to be told that it fails. */
  readonly isNotice: boolean;
  readonly disables: boolean;
}

/** The state after more failures, and what is to be done about it. */
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
