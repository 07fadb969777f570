import type { Asset } from "../../kernel/money/asset.ts";
import type { Clock, Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import { money, type Money } from "../../kernel/money/money.ts";
import { parsePage } from "../../kernel/page.ts";
import { divideRounded, powerOfTen } from "../../kernel/money/ratio.ts";
import type { Network } from "../../platform/chain/networks.ts";
import type { Reader } from "../../platform/database/index.ts";
import { platformRevenue, recurringRevenue } from "../billing/index.ts";
import { invoiceStatuses, type InvoiceStatus } from "../invoices/index.ts";
import {
  figureDecimals,
  platformScope,
  type Measure,
  type Period,
  type UsageCounter,
} from "../usage/index.ts";
import { bucketOf, bucketsOf, type Interval } from "./buckets.ts";
import { largestSubjects, sumByDay, sumBySubject, type FigureOwner, type Sum } from "./figures.ts";
import { readAnalyticsQuery, type FiguresQuery, type AnalyticsQuery } from "./query.ts";
import {
  approvalsPerDay,
  askedByPartlyPaid,
  countCustomers,
  countOrganizations,
  countPendingReviews,
  customersById,
  draftsOf,
  organizationsById,
  organizationsPerDay,
  walletsById,
  type NamedCustomer,
  type NamedOrganization,
  type NamedWallet,
} from "./store.ts";

export interface ChartsQuery extends FiguresQuery {
  readonly interval?: Interval | undefined;
}

export interface TopQuery extends FiguresQuery {
  readonly limit?: string | undefined;
}

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

export interface MerchantSummary extends Summary {
  readonly outstandingAmount: Money;
  readonly customerCount: number;
}

export interface PlatformSummary extends Summary {
  readonly organizationCount: number;
  readonly pendingReviewCount: number;
  /** Active and past due subscriptions, now. */
  readonly activeSubscriptionCount: number;
  /** Monthly price of those subscriptions' plans. */
  readonly monthlyRecurringRevenue: Money;
}

export type Bucket<T> = T & { readonly start: Instant };

export interface Charts {
  readonly period: Period;
  readonly currency: Asset;
  readonly interval: Interval;
  readonly volumes: readonly Bucket<Volume>[];
}

export interface MerchantCharts extends Charts {
  readonly statuses: readonly {
    readonly status: InvoiceStatus;
    readonly count: number;
    readonly amount: Money;
  }[];
}

export interface PlatformCharts extends Charts {
  /** Payments of platform invoices. */
  readonly revenue: readonly Bucket<Volume>[];
  readonly organizations: readonly Bucket<{
    readonly created: number;
    readonly approved: number;
  }>[];
}

/** An item of a ranking with its volume. */
type Top<T> = T & Volume;
export type TopCustomer = Top<NamedCustomer>;
export type TopWallet = Top<NamedWallet>;
export type TopOrganization = Top<NamedOrganization>;

export interface AnalyticsService {
  /** Counts payments by block time and invoices by issue time; the outstanding amount and customers are current. */
  summary(organizationId: Id<"organization">, query: FiguresQuery): Promise<MerchantSummary>;
  charts(organizationId: Id<"organization">, query: ChartsQuery): Promise<MerchantCharts>;
  /** Returns a ranking, largest volume first. */
  topCustomers(organizationId: Id<"organization">, query: TopQuery): Promise<TopCustomer[]>;
  topWallets(organizationId: Id<"organization">, query: TopQuery): Promise<TopWallet[]>;
  platformSummary(query: FiguresQuery): Promise<PlatformSummary>;
  platformCharts(query: ChartsQuery): Promise<PlatformCharts>;
  topOrganizations(query: TopQuery): Promise<TopOrganization[]>;
  /** Counts a period's issued invoices and confirmed payments, and the volume in one currency, for usage. */
  readonly countUsage: UsageCounter;
}

/** The whole range of a JavaScript date from 1970 on. */
const always: Period = { from: 0, to: 8_640_000_000_000_000 };

export function makeAnalyticsService(deps: {
  readonly db: Reader;
  readonly clock: Clock;
  /** Every configured network; their tokens are settlement currencies too. */
  readonly networks: ReadonlyMap<string, Network>;
}): AnalyticsService {
  const { db, clock, networks } = deps;

  const ask = (query: FiguresQuery) => readAnalyticsQuery(query, networks, clock.now());

  async function volumeOf(
    scope: FigureOwner,
    { period, currency }: AnalyticsQuery,
  ): Promise<Volume> {
    const reading = { scope, measure: "volume", period, currency: currency.code } as const;
    const [sum] = await sumBySubject(db, reading, clock.now());
    return sum === undefined ? noVolume(currency) : toVolume(sum, currency);
  }

  function invoicesOf(
    scope: FigureOwner,
    { period, currency }: AnalyticsQuery,
  ): Promise<Sum<string>[]> {
    const reading = { scope, measure: "invoices", period, currency: currency.code } as const;
    return sumBySubject(db, reading, clock.now());
  }

  async function summaryOf(scope: FigureOwner, question: AnalyticsQuery): Promise<Summary> {
    const [processed, byStatus] = await Promise.all([
      volumeOf(scope, question),
      invoicesOf(scope, question),
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

  async function chartsOf(
    scope: FigureOwner,
    query: ChartsQuery,
  ): Promise<Charts & { starts: Instant[] }> {
    const question = ask(query);
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
  async function top<T extends { readonly id: string }>(
    scope: FigureOwner,
    measure: Measure,
    query: TopQuery,
    named: (ids: readonly string[]) => Promise<readonly T[]>,
  ): Promise<Top<T>[]> {
    const { limit } = parsePage({ limit: query.limit }, measure);
    const { period, currency } = ask(query);
    const reading = { scope, measure, period, currency: currency.code };
    const sums = await largestSubjects(db, reading, clock.now(), limit);
    const found = await named(sums.map(({ key }) => key));
    const byId = new Map(found.map((each) => [each.id, each]));
    return sums.flatMap((sum) => {
      const each = byId.get(sum.key);
      return each === undefined ? [] : [{ ...each, ...toVolume(sum, currency) }];
    });
  }

  async function outstanding(organizationId: Id<"organization">, currency: Asset): Promise<Money> {
    const reading = {
      scope: organizationId,
      measure: "invoices",
      period: always,
      currency: currency.code,
    } as const;
    const [byStatus, partly] = await Promise.all([
      sumBySubject(db, reading, clock.now()),
      askedByPartlyPaid(db, organizationId, currency.code),
    ]);
    const open = byStatus.find(({ key }) => key === "open");
    return toMoney((open?.total ?? 0n) + partly, currency);
  }

  return {
    async summary(organizationId, query) {
      const question = ask(query);
      const [summary, outstandingAmount, customerCount] = await Promise.all([
        summaryOf(organizationId, question),
        outstanding(organizationId, question.currency),
        countCustomers(db, organizationId),
      ]);
      return { ...summary, outstandingAmount, customerCount };
    },

    async charts(organizationId, query) {
      const question = ask(query);
      const { period, currency } = question;
      const charts = await chartsOf(organizationId, query);
      const [byStatus, drafts] = await Promise.all([
        invoicesOf(organizationId, question),
        draftsOf(db, organizationId, currency.code, period),
      ]);
      const sums = new Map<string, Pick<Sum<string>, "items" | "total">>([
        ...byStatus.map((sum) => [sum.key, sum] as const),
        ["draft", drafts],
      ]);
      const statuses = invoiceStatuses.map((status) => {
        const { items, total } = sums.get(status) ?? { items: 0, total: 0n };
        return { status, count: items, amount: toMoney(total, currency) };
      });
      return { ...charts, statuses };
    },

    topCustomers: (organizationId, query) =>
      top(organizationId, "customer", query, (ids) => customersById(db, organizationId, ids)),

    topWallets: (organizationId, query) =>
      top(organizationId, "wallet", query, (ids) => walletsById(db, organizationId, ids)),

    async platformSummary(query) {
      const question = ask(query);
      const { currency } = question;
      const [summary, organizationCount, pendingReviewCount, recurring] = await Promise.all([
        summaryOf(platformScope, question),
        countOrganizations(db),
        countPendingReviews(db),
        recurringRevenue(db, currency.code),
      ]);
      return {
        ...summary,
        organizationCount,
        pendingReviewCount,
        activeSubscriptionCount: recurring.subscriptions,
        monthlyRecurringRevenue: money(recurring.monthly, currency),
      };
    },

    async platformCharts(query) {
      const charts = await chartsOf(platformScope, query);
      const { period, interval, starts, currency } = charts;
      const [created, approved, paid] = await Promise.all([
        organizationsPerDay(db, period),
        approvalsPerDay(db, period),
        platformRevenue(db, currency.code, period),
      ]);
      const paidIn = intoBuckets(paid, interval);
      const revenue = starts.map((start) => {
        const { items, total } = paidIn.get(start) ?? { items: 0, total: 0n };
        return { start, volume: money(total, currency), paymentCount: items };
      });
      const [createdIn, approvedIn] = [created, approved].map((days) =>
        intoBuckets(
          days.map((each) => ({ ...each, total: 0n })),
          interval,
        ),
      );
      const organizations = starts.map((start) => ({
        start,
        created: createdIn?.get(start)?.items ?? 0,
        approved: approvedIn?.get(start)?.items ?? 0,
      }));
      return { ...charts, revenue, organizations };
    },

    topOrganizations: (query) =>
      top(platformScope, "organization", query, (ids) => organizationsById(db, ids)),

    async countUsage(organizationId, period, code) {
      const now = clock.now();
      const all = { scope: organizationId, period, currency: null };
      const { currency } = ask({ currency: code });
      const [invoices, payments, processed] = await Promise.all([
        sumBySubject(db, { ...all, measure: "invoices" }, now),
        sumBySubject(db, { ...all, measure: "volume" }, now),
        volumeOf(organizationId, { period, currency }),
      ]);
      return {
        invoicesCreated: invoices.reduce((count, { items }) => count + items, 0),
        paymentsConfirmed: payments.reduce((count, { items }) => count + items, 0),
        processedVolume: processed.volume,
      };
    },
  };
}

type Counted = Pick<Sum<unknown>, "items" | "total">;

/** Sums days into buckets, by the start of the bucket. */
function intoBuckets(days: readonly Sum<Instant>[], interval: Interval): Map<Instant, Counted> {
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
function toMoney(total: bigint, { code, displayDecimals }: Asset): Money {
  return money(total, { code, decimals: figureDecimals, displayDecimals });
}
