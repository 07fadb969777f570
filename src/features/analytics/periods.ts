import { day, hour, type Instant } from "../../kernel/clock.ts";
import { defineProblem } from "../../kernel/errors.ts";

export const TooManyBuckets = defineProblem({
  code: "too_many_buckets",
  status: 422,
  title: "The chart would have too many points",
  remedy: "Choose a shorter period or a longer interval.",
});

/** From `from`, inclusive, to `to`, exclusive. */
export interface Period {
  readonly from: Instant;
  readonly to: Instant;
}

/** Returns the calendar month of a moment, in UTC. */
export function monthAt(at: Instant): Period {
  const date = new Date(at);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { from: Date.UTC(year, month), to: Date.UTC(year, month + 1) };
}

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

function floorTo(at: Instant, length: number): Instant {
  return Math.floor(at / length) * length;
}

function ceilTo(at: Instant, length: number): Instant {
  return Math.ceil(at / length) * length;
}

export const intervals = ["day", "week", "month"] as const;
export type Interval = (typeof intervals)[number];

export const bucketsMax = 400;

/** The Monday before 1970-01-01, which was a Thursday. */
const someMonday = -3 * day;

/** Returns the start of a moment's bucket in UTC; weeks start on Monday. */
export function bucketOf(at: Instant, interval: Interval): Instant {
  switch (interval) {
    case "day":
      return floorTo(at, day);
    case "week":
      return floorTo(at - someMonday, 7 * day) + someMonday;
    case "month":
      return monthAt(at).from;
  }
}

function nextBucket(start: Instant, interval: Interval): Instant {
  switch (interval) {
    case "day":
      return start + day;
    case "week":
      return start + 7 * day;
    case "month":
      return monthAt(start).to;
  }
}

/** Returns the starts of all buckets that overlap a period, in order. Throws TooManyBuckets (422) above 400. */
export function bucketsOf({ from, to }: Period, interval: Interval): Instant[] {
  const starts: Instant[] = [];
  for (let start = bucketOf(from, interval); start < to; start = nextBucket(start, interval)) {
    if (starts.length === bucketsMax) {
      throw new TooManyBuckets(
        `A chart has at most ${String(bucketsMax)} points. Choose a shorter period or a longer interval.`,
      );
    }
    starts.push(start);
  }
  return starts;
}
