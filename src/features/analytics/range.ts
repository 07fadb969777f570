import { day, hour, type Instant } from "../../kernel/clock.ts";
import type { Period } from "../usage/index.ts";

/** A stretch of time within one hour, of which every item is read; -1: it is taken away from that hour's sum. */
export interface Edge extends Period {
  readonly sign: 1 | -1;
}

/** How a period is read: sums of whole hours, of whole days and of hours again, and what is over or missing. */
export interface ReadingPlan {
  /** The sums' borders, in order: hours, days between the middle two, hours. */
  readonly borders: readonly [Instant, Instant, Instant, Instant];
  readonly edges: readonly [Edge, Edge];
}

/**
 * Plans the reading of a period. Where it begins or ends within an hour, that hour's sum is taken and the rest taken
 * away, or it is left out and its part read: whichever has less to read. After `now` there is as good as nothing, so
 * that a period which ends now is read from sums to its end.
 */
export function planReading({ from, to }: Period, now: Instant): ReadingPlan {
  const first = nearestHour(from, now);
  const last = nearestHour(to, now);
  const [firstDay, lastDay] = [ceilTo(first, day), floorTo(last, day)];
  const hasDays = firstDay <= lastDay;
  return {
    borders: [first, hasDays ? firstDay : last, hasDays ? lastDay : last, last],
    edges: [
      first < from ? { from: first, to: from, sign: -1 } : { from, to: first, sign: 1 },
      last < to ? { from: last, to, sign: 1 } : { from: to, to: last, sign: -1 },
    ],
  };
}

function nearestHour(at: Instant, now: Instant): Instant {
  const [before, after] = [floorTo(at, hour), ceilTo(at, hour)];
  return at - before <= Math.min(after, Math.max(now, at)) - at ? before : after;
}

export function floorTo(at: Instant, length: number): Instant {
  return Math.floor(at / length) * length;
}

function ceilTo(at: Instant, length: number): Instant {
  return Math.ceil(at / length) * length;
}
