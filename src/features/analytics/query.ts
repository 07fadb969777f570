import * as z from "zod";
import { limitParameter } from "../../http/declare/list.ts";
import { instant } from "../../http/declare/record.ts";
import { findCurrency, tokenAsset, type Asset } from "../../kernel/money/money.ts";
import { day, hour, type Instant } from "../../kernel/clock.ts";
import { defineProblem, invalidFields, type FieldError } from "../../kernel/errors.ts";
import { findToken, type Network } from "../../platform/chain/networks.ts";

/** Currency of the volume unless a plan or a query names another. */
export const defaultCurrency = "USD";

/** Query parameters common to all statistics. */
export const figuresQuery = {
  from: instant().optional().meta({
    description: "Start of the period, inclusive. Default: 30 days before `to`.",
  }),
  to: instant().optional().meta({ description: "End of the period, exclusive. Default: now." }),
  currency: z.string().optional().meta({
    description:
      "The settlement currency: an ISO 4217 code, or a token's symbol. Invoices in other currencies are left out. Default: `USD`.",
  }),
};

export const intervals = ["day", "week", "month"] as const;

export const chartsQuery = {
  ...figuresQuery,
  interval: z
    .enum(intervals)
    .optional()
    .meta({ description: "The length of one point of the series. Default: `day`." }),
};
export const topQuery = { ...figuresQuery, limit: limitParameter };

export const SummaryQuery = z.strictObject(figuresQuery);
export const ChartsQuery = z.strictObject(chartsQuery);
export const TopQuery = z.strictObject(topQuery);

export type FiguresQuery = z.output<typeof SummaryQuery>;
export type ChartsInput = z.output<typeof ChartsQuery>;
export type TopInput = z.output<typeof TopQuery>;

export interface AnalyticsQuery {
  readonly period: Period;
  readonly currency: Asset;
}

const defaultLength = 30 * day;

/**
 * Reads the requested period and currency. Defaults: the 30 days until `to` or now, and USD. An empty period or an
 * unknown currency is a 400.
 */
export function readAnalyticsQuery(
  query: FiguresQuery,
  networks: ReadonlyMap<string, Network>,
  now: Instant,
): AnalyticsQuery {
  // The end is exclusive, so now + 1 includes the current millisecond.
  const to = query.to === undefined ? now + 1 : Date.parse(query.to);
  const from = query.from === undefined ? to - defaultLength : Date.parse(query.from);
  const currency = findSettlementCurrency(networks, query.currency ?? defaultCurrency);
  const errors: FieldError[] = [];
  if (from >= to) {
    const parameter = query.from === undefined ? "to" : "from";
    errors.push({ parameter, code: "empty_period", message: "from must be before to" });
  }
  if (currency === null) {
    const message =
      "must be an ISO 4217 currency code such as USD, in capital letters, or a token symbol";
    errors.push({ parameter: "currency", code: "unknown_currency", message });
  }
  if (currency === null || errors.length > 0) throw invalidFields(errors);
  return { period: { from, to }, currency };
}

/** Finds a settlement currency. A token has the most decimals that any network gives it. */
function findSettlementCurrency(
  networks: ReadonlyMap<string, Network>,
  code: string,
): Asset | null {
  const currency = findCurrency(code);
  if (currency !== null) return currency;
  const decimals = [...networks.values()].flatMap(
    (network) => findToken(network, code)?.decimals ?? [],
  );
  if (decimals.length === 0) return null;
  return tokenAsset(code, Math.max(...decimals));
}

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
interface Edge extends Period {
  readonly sign: 1 | -1;
}

/** How to read a period: from sums of hours, days and hours again, corrected by single items at both ends. */
interface PeriodPlan {
  /** Borders of the sums, in order: hours, then days between the middle two, then hours. */
  readonly borders: readonly [Instant, Instant, Instant, Instant];
  readonly edges: readonly [Edge, Edge];
}

/**
 * Plans how to read a period. If it starts or ends within an hour, either that hour's sum is used and the excess
 * subtracted, or the sum is skipped and the part read item by item, whichever reads fewer items. Almost nothing exists
 * after `now`, so a period that ends now uses sums up to its end.
 */
export function planPeriod({ from, to }: Period, now: Instant): PeriodPlan {
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
