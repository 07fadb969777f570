import { day, type Instant } from "../../kernel/clock.ts";
import { monthAt, type Period } from "../usage/index.ts";
import { TooManyBuckets } from "./errors.ts";
import { floorTo } from "./range.ts";

export const intervals = ["day", "week", "month"] as const;
export type Interval = (typeof intervals)[number];

export const bucketsMax = 400;

/** 1970 began on a Thursday: the Monday before it. */
const someMonday = -3 * day;

/** Where the bucket of a moment begins, in UTC; weeks begin on Monday. */
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

/** Where every bucket begins that a period has a part in, in order. More than 400 are a 422. */
export function bucketsOf({ from, to }: Period, interval: Interval): Instant[] {
  const starts: Instant[] = [];
  for (let start = bucketOf(from, interval); start < to; start = nextBucket(start, interval)) {
    if (starts.length === bucketsMax) {
      throw new TooManyBuckets(
        `A chart has at most ${String(bucketsMax)} points. Ask for a shorter period, or a longer interval.`,
      );
    }
    starts.push(start);
  }
  return starts;
}
