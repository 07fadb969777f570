import { day, type Instant } from "../../kernel/clock.ts";
import { monthAt, type Period } from "../usage/service.ts";
import { TooManyBuckets } from "./errors.ts";
import { floorTo } from "./range.ts";

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
