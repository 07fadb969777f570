import type { App } from "../../app.ts";
import { day, type Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import { money, type Asset, type Money } from "../../kernel/money/money.ts";
import { divideRounded, powerOfTen } from "../../kernel/money/ratio.ts";
import { parsePage } from "../../kernel/page.ts";
import { decodeAmount, type SqlValue } from "../../platform/database/schema/table.ts";
import { signedSums } from "../../platform/database/query/sum-amounts.ts";
import type { Reader } from "../../platform/database/database.ts";
import { figureDecimals, platformScope, type Measure } from "../usage/meter.ts";
import {
  bucketOf,
  bucketsOf,
  planPeriod,
  readAnalyticsQuery,
  type AnalyticsQuery,
  type ChartsInput,
  type FiguresQuery,
  type Interval,
  type Period,
  type TopInput,
} from "./query.ts";

/** An organization's figures, or those of the whole platform. */
export type FigureOwner = Id<"organization"> | typeof platformScope;

/** A sum of figures. */
export interface Sum<Key> {
  readonly key: Key;
  readonly items: number;
  /** Amount with `figureDecimals` decimals. */
  readonly total: bigint;
}

interface FigureQuery {
  readonly scope: FigureOwner;
  readonly measure: Measure;
  readonly period: Period;
  /** Null for every currency; then only `items` is meaningful. */
  readonly currency: string | null;
}

/** Sums the figures of a period by subject, in no particular order. */
export function sumBySubject(
  reader: Reader,
  asked: FigureQuery,
  now: Instant,
): Promise<Sum<string>[]> {
  return readSums<string>(reader, asked, now, "subject", "", []);
}

/** Returns the subjects with the largest totals, largest first. */
export function largestSubjects(
  reader: Reader,
  asked: FigureQuery,
  now: Instant,
  limit: number,
): Promise<Sum<string>[]> {
  const rest = `WHERE items > 0 ORDER BY total DESC, items DESC, key LIMIT $${String(plannedValues + 1)}`;
  return readSums<string>(reader, asked, now, "subject", rest, [limit]);
}

/** Sums the figures of a period by UTC day; days without figures are omitted. `key` is the start of the day. */
export function sumByDay(
  reader: Reader,
  asked: FigureQuery,
  now: Instant,
): Promise<Sum<Instant>[]> {
  return readSums<Instant>(reader, asked, now, "day", "", []);
}

async function readSums<Key>(
  reader: Reader,
  { scope, measure, period, currency }: FigureQuery,
  now: Instant,
  by: "subject" | "day",
  rest: string,
  more: readonly SqlValue[],
): Promise<Sum<Key>[]> {
  const { borders, edges } = planPeriod(period, now);
  const rows = rowsOf(scope === platformScope, measure, by);
  const sums = signedSums(reader.dialect, rows);
  const found = await reader.all<{ key: Key; items: number; total: string }>(
    `SELECT key, items, total FROM (${sums}) AS summed ${rest}`,
    [
      scope,
      measure,
      currency ?? everyCurrency,
      ...borders,
      ...edges.flatMap((edge) => [edge.from, edge.to, edge.sign]),
      ...more,
    ],
  );
  return found.map(({ key, items, total }) => ({ key, items, total: decodeAmount(total) }));
}

const everyCurrency = "*";
/** Number of values that every statement binds. */
const plannedValues = 13;

const dayOf = (column: string) => `${column} - ${column} % ${String(day)}`;

/**
 * Builds the query of a period's figures. One statement, so that a concurrent change counts exactly once. It adds sums
 * of whole days and hours, changes that are not summed yet, and the invoices or payments themselves where the period
 * starts or ends within an hour.
 */
function rowsOf(isPlatform: boolean, measure: Measure, by: "subject" | "day"): string {
  const stored = (grain: string, from: number, to: number) =>
    `SELECT ${by === "day" ? dayOf("starts_at") : "subject"} AS key, items, sign, amount FROM figures
     WHERE organization_id = $1 AND measure = $2 AND grain = '${grain}'
       AND starts_at >= $${String(from)} AND starts_at < $${String(to)} AND ${isCurrency("currency")}`;
  // Platform-wide changes are stored only once, under the organization they belong to.
  const written = measure === "organization" ? "volume" : measure;
  const subject = measure === "organization" ? "organization_id" : "subject";
  const changes = `SELECT ${by === "day" ? dayOf("happened_at") : subject} AS key, items, sign, amount
     FROM figure_changes
     WHERE ${isPlatform ? "$1 = $1" : "organization_id = $1"} AND measure = '${written}'
       AND happened_at >= $4 AND happened_at < $7 AND ${isCurrency("currency")}`;
  return [
    stored("hour", 4, 5),
    stored("day", 5, 6),
    stored("hour", 6, 7),
    changes,
    edgeRows(isPlatform, measure, by, 8),
    edgeRows(isPlatform, measure, by, 11),
  ].join(" UNION ALL ");
}

const isCurrency = (column: string) => `($3 = '${everyCurrency}' OR ${column} = $3)`;

/** The SQL source of single items, for parts of an hour. */
interface Source {
  readonly from: string;
  readonly organization: string;
  readonly time: string;
  readonly currency: string;
  readonly amount: string;
  readonly subject: string;
  readonly condition: string;
}

const paymentSource: Omit<Source, "subject"> = {
  from: "payments p",
  organization: "p.organization_id",
  time: "p.block_time",
  currency: "p.settlement_currency",
  amount: inFigureDecimals("p.settlement_amount", "p.settlement_decimals"),
  condition: "p.status = 'confirmed'",
};
const invoiceOfPayment = "payments p JOIN invoices i ON i.id = p.invoice_id";

const sources: Readonly<Record<Measure, Source>> = {
  invoices: {
    from: "invoices i",
    organization: "i.organization_id",
    time: "i.issued_at",
    currency: "i.settlement_currency",
    amount: inFigureDecimals("i.amount", "i.settlement_decimals"),
    subject: "i.status",
    condition: "i.issued_at IS NOT NULL",
  },
  volume: { ...paymentSource, subject: "''" },
  organization: { ...paymentSource, subject: "p.organization_id" },
  wallet: {
    ...paymentSource,
    from: invoiceOfPayment,
    subject: "COALESCE(p.wallet_id, i.wallet_id)",
    condition: `${paymentSource.condition} AND COALESCE(p.wallet_id, i.wallet_id) IS NOT NULL`,
  },
  customer: {
    ...paymentSource,
    from: invoiceOfPayment,
    subject: "i.customer_id",
    condition: `${paymentSource.condition} AND i.customer_id IS NOT NULL`,
  },
};

function edgeRows(
  isPlatform: boolean,
  measure: Measure,
  by: "subject" | "day",
  at: number,
): string {
  const source = sources[measure];
  const [from, to, sign] = [at, at + 1, at + 2].map(
    (parameter) => `CAST($${String(parameter)} AS BIGINT)`,
  ) as [string, string, string];
  // The index starts with the organization, so the platform looks up each organization in it.
  const owner = isPlatform ? "IN (SELECT id FROM organizations)" : "= $1";
  return `SELECT ${by === "day" ? dayOf(from) : source.subject} AS key, ${sign} AS items, ${sign} AS sign,
      ${source.amount} AS amount
    FROM ${source.from}
    WHERE ${source.organization} ${owner} AND ${source.condition}
      AND ${source.time} >= ${from} AND ${source.time} < ${to} AND ${isCurrency(source.currency)}`;
}

/** SQL that converts a stored amount to the figures' number of decimals: again 78 digits. */
export function inFigureDecimals(amount: string, decimals: string): string {
  const zeros = "0".repeat(figureDecimals);
  return `SUBSTR(${amount} || '${zeros}', CAST(${String(figureDecimals + 1)} - ${decimals} AS INTEGER), 78)`;
}

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
  const asked = { scope, measure: "volume", period, currency: currency.code } as const;
  const [sum] = await sumBySubject(db, asked, clock.now());
  return sum === undefined ? noVolume(currency) : toVolume(sum, currency);
}

/** Returns the number and amount of the invoices that were issued in a period, by status. */
export function invoicesOf(
  { db, clock }: App,
  scope: FigureOwner,
  { period, currency }: AnalyticsQuery,
): Promise<Sum<string>[]> {
  const asked = { scope, measure: "invoices", period, currency: currency.code } as const;
  return sumBySubject(db, asked, clock.now());
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
  const asked = { scope, measure: "volume", period, currency: currency.code } as const;
  const sums = intoBuckets(await sumByDay(db, asked, clock.now()), interval);
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
  const asked = { scope, measure, period, currency: currency.code };
  const sums = await largestSubjects(db, asked, clock.now(), limit);
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
