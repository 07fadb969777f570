import type { App } from "../../app.ts";
import type { Instant } from "../../kernel/clock.ts";
import type { Asset } from "../../kernel/money/asset.ts";
import { money, type Money } from "../../kernel/money/money.ts";
import { divideRounded, powerOfTen } from "../../kernel/money/ratio.ts";
import { parsePage } from "../../kernel/page.ts";
import { figureDecimals, type Measure } from "../usage/table.ts";
import { largestSubjects, sumByDay, sumBySubject, type FigureOwner, type Sum } from "./figures.ts";
import { bucketOf, bucketsOf, type Interval, type Period } from "./periods.ts";
import {
  readAnalyticsQuery,
  type AnalyticsQuery,
  type ChartsInput,
  type FiguresQuery,
  type TopInput,
} from "./query.ts";

// The figures that an organization and the platform have alike. The scope is either of them.

/** A volume in the requested currency. */
export interface Volume {
  readonly volume: Money;
  readonly paymentCount: number;
}

export interface Summary {
  readonly period: Period;
  readonly processed: Volume;
  readonly invoiceCount: number;
  /** Paid invoices among those issued in the period. */
  readonly paidInvoiceCount: number;
  /** Rounded half to even to the currency's decimals. */
  readonly averageInvoiceAmount: Money;
}

export type Bucket<T> = T & { readonly start: Instant };

export interface Charts {
  readonly period: Period;
  readonly currency: Asset;
  readonly interval: Interval;
  readonly volumes: readonly Bucket<Volume>[];
}

/** An item of a ranking with its volume. */
export type Top<T> = T & Volume;

/** Parses a query, with the current time as the end of its default period. */
export function queryOf({ clock, networks }: App, query: FiguresQuery): AnalyticsQuery {
  return readAnalyticsQuery(query, networks.known, clock.now());
}

/** Returns the confirmed payments of a period, with their volume. */
export async function volumeOf(
  { db, clock }: App,
  scope: FigureOwner,
  { period, currency }: AnalyticsQuery,
): Promise<Volume> {
  const reading = { scope, measure: "volume", period, currency: currency.code } as const;
  const [sum] = await sumBySubject(db, reading, clock.now());
  return sum === undefined ? noVolume(currency) : toVolume(sum, currency);
}

/** Returns the number and amount of the invoices that were issued in a period, by status. */
export function invoicesOf(
  { db, clock }: App,
  scope: FigureOwner,
  { period, currency }: AnalyticsQuery,
): Promise<Sum<string>[]> {
  const reading = { scope, measure: "invoices", period, currency: currency.code } as const;
  return sumBySubject(db, reading, clock.now());
}

export async function summaryOf(
  app: App,
  scope: FigureOwner,
  question: AnalyticsQuery,
): Promise<Summary> {
  const [processed, byStatus] = await Promise.all([
    volumeOf(app, scope, question),
    invoicesOf(app, scope, question),
  ]);
  const { period, currency } = question;
  const invoiceCount = byStatus.reduce((count, { items }) => count + items, 0);
  const asked = byStatus.reduce((sum, { total }) => sum + total, 0n);
  const paid = byStatus.find(({ key }) => key === "paid");
  const averageInvoiceAmount = average(asked, invoiceCount, currency);
  return {
    period,
    processed,
    invoiceCount,
    paidInvoiceCount: paid?.items ?? 0,
    averageInvoiceAmount,
  };
}

/** Returns the volume by interval, and the start of each interval. */
export async function chartsOf(
  app: App,
  scope: FigureOwner,
  query: ChartsInput,
): Promise<Charts & { starts: Instant[] }> {
  const { db, clock } = app;
  const question = queryOf(app, query);
  const { period, currency } = question;
  const interval = query.interval ?? "day";
  const starts = bucketsOf(period, interval);
  const reading = { scope, measure: "volume", period, currency: currency.code } as const;
  const sums = intoBuckets(await sumByDay(db, reading, clock.now()), interval);
  const volumes = starts.map((start) => ({
    start,
    ...toVolume(sums.get(start) ?? { items: 0, total: 0n }, currency),
  }));
  return { period, currency, interval, volumes, starts };
}

/** Returns the subjects with the highest volume, looked up by `named`; deleted ones are omitted. */
export async function top<T extends { readonly id: string }>(
  app: App,
  scope: FigureOwner,
  measure: Measure,
  query: TopInput,
  named: (ids: readonly string[]) => Promise<readonly T[]>,
): Promise<Top<T>[]> {
  const { db, clock } = app;
  const { limit } = parsePage({ limit: query.limit }, measure);
  const { period, currency } = queryOf(app, query);
  const reading = { scope, measure, period, currency: currency.code };
  const sums = await largestSubjects(db, reading, clock.now(), limit);
  const found = await named(sums.map(({ key }) => key));
  const byId = new Map(found.map((each) => [each.id, each]));
  return sums.flatMap((sum) => {
    const each = byId.get(sum.key);
    return each === undefined ? [] : [{ ...each, ...toVolume(sum, currency) }];
  });
}

type Counted = Pick<Sum<unknown>, "items" | "total">;

/** Sums days into buckets, by the start of the bucket. */
export function intoBuckets(
  days: readonly Sum<Instant>[],
  interval: Interval,
): Map<Instant, Counted> {
  const buckets = new Map<Instant, Counted>();
  for (const { key, items, total } of days) {
    const start = bucketOf(key, interval);
    const before = buckets.get(start) ?? { items: 0, total: 0n };
    buckets.set(start, { items: before.items + items, total: before.total + total });
  }
  return buckets;
}

function average(total: bigint, count: number, currency: Asset): Money {
  if (count === 0) return toMoney(0n, currency);
  const unit = powerOfTen(figureDecimals - currency.decimals);
  return toMoney(divideRounded(total, BigInt(count) * unit, "half_even") * unit, currency);
}

function toVolume({ items, total }: Counted, currency: Asset): Volume {
  return { volume: toMoney(total, currency), paymentCount: items };
}

function noVolume(currency: Asset): Volume {
  return toVolume({ items: 0, total: 0n }, currency);
}

/** Converts a figure to money. It keeps all decimals, since networks may define different decimals for a token. */
export function toMoney(total: bigint, { code, displayDecimals }: Asset): Money {
  return money(total, { code, decimals: figureDecimals, displayDecimals });
}
