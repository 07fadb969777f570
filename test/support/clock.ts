import type { Clock, Instant } from "../../src/kernel/clock.ts";

/** A clock that the test moves. */
export interface MovingClock extends Clock {
  advance(milliseconds: number): void;
}

/** The machine's time plus an offset that the test sets. */
export function movingClock(start?: Instant): MovingClock {
  let added = start === undefined ? 0 : start - Date.now();
  return {
    now: () => Date.now() + added,
    advance(milliseconds) {
      added += milliseconds;
    },
  };
}

/** A clock that stands still until the test moves it, for events within one millisecond or in the next. */
export function stillClock(start: Instant = Date.now()): MovingClock {
  let now = start;
  return {
    now: () => now,
    advance(milliseconds) {
      now += milliseconds;
    },
  };
}
