import { day, type Instant } from "../../kernel/clock.ts";

export type Interval = "month" | "year";

/** A time range, end exclusive. */
export interface Period {
  readonly start: Instant;
  readonly end: Instant;
}

const monthsOf: Readonly<Record<Interval, number>> = { month: 1, year: 12 };

/**
 * Returns the start of the nth period: n months or years after the anchor, at its time of day, and on the month's last
 * day if the month is too short. Always counted from the anchor, so that a 31st returns after February. All in UTC.
 */
export function boundary(anchor: Instant, interval: Interval, n: number): Instant {
  const from = new Date(anchor);
  const timeOfDay = ((anchor % day) + day) % day;
  const month = from.getUTCMonth() + n * monthsOf[interval];
  const lastDay = new Date(Date.UTC(from.getUTCFullYear(), month + 1, 0)).getUTCDate();
  const dayOfMonth = Math.min(from.getUTCDate(), lastDay);
  return Date.UTC(from.getUTCFullYear(), month, dayOfMonth) + timeOfDay;
}

/** Returns the nth period; each ends when the next one begins. */
export function periodAt(anchor: Instant, interval: Interval, n: number): Period {
  return { start: boundary(anchor, interval, n), end: boundary(anchor, interval, n + 1) };
}

/** Returns the index of the period that contains a time; negative before the anchor. */
export function periodIndexAt(anchor: Instant, interval: Interval, at: Instant): number {
  const [first, second] = [new Date(anchor), new Date(at)];
  const months =
    (second.getUTCFullYear() - first.getUTCFullYear()) * 12 +
    (second.getUTCMonth() - first.getUTCMonth());
  // One too many if the anchor's day has not been reached yet in this month.
  const guess = Math.floor(months / monthsOf[interval]);
  return boundary(anchor, interval, guess) <= at ? guess : guess - 1;
}
