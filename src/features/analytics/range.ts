import { day, hour, type Instant } from "../../kernel/clock.ts";
import type { Period } from "../usage/service.ts";

/** A period within one hour whose items are read one by one; with -1 they are subtracted from the hour's sum. */
export interface Edge extends Period {
  readonly sign: 1 | -1;
}

/** How to read a period: from sums of hours, days and hours again, corrected by single items at both ends. */
export interface ReadingPlan {
  /** Borders of the sums, in order: hours, then days between the middle two, then hours. */
  readonly borders: readonly [Instant, Instant, Instant, Instant];
  readonly edges: readonly [Edge, Edge];
}

/**
 * Plans how to read a period. If it starts or ends within an hour, either that hour's sum is used and the excess
 * subtracted, or the sum is skipped and the part read item by item, whichever reads fewer items. Almost nothing exists
 * after `now`, so a period that ends now uses sums up to its end.
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
