import { bind, type Bound } from "../../kernel/bind.ts";
import type { Asset } from "../../kernel/money/asset.ts";
import type { Id } from "../../kernel/id.ts";
import { money, type Money } from "../../kernel/money/money.ts";
import { platformRevenue, recurringRevenue } from "../billing/operator/revenue.ts";
import { countUsed } from "../invoices/store.ts";
import { invoiceStatuses, type InvoiceStatus } from "../invoices/rules.ts";
import { platformScope } from "../usage/table.ts";
import type { Period, UsageCounter } from "../usage/service.ts";
import { sumBySubject, type Sum } from "./figures.ts";
import type { FiguresQuery } from "./query.ts";
import {
  chartsOf,
  intoBuckets,
  invoicesOf,
  queryOf,
  summaryOf,
  top,
  toMoney,
  volumeOf,
  type AnalyticsDependencies,
  type Bucket,
  type Charts,
  type ChartsQuery,
  type Summary,
  type Top,
  type TopQuery,
  type Volume,
} from "./scope-figures.ts";
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

export type TopCustomer = Top<NamedCustomer>;
export type TopWallet = Top<NamedWallet>;
export type TopOrganization = Top<NamedOrganization>;

export type AnalyticsService = Bound<typeof methods>;

/** The whole range of a JavaScript date from 1970 on. */
const always: Period = { from: 0, to: 8_640_000_000_000_000 };

const methods = {
  summary,
  charts,
  topCustomers,
  topWallets,
  platformSummary,
  platformCharts,
  topOrganizations,
  countUsage,
  nameOf,
};

export function makeAnalyticsService(deps: AnalyticsDependencies): AnalyticsService {
  return bind(deps, methods);
}

/** Counts payments by block time and invoices by issue time; the outstanding amount and customers are current. */
async function summary(
  deps: AnalyticsDependencies,
  organizationId: Id<"organization">,
  query: FiguresQuery,
): Promise<MerchantSummary> {
  const { db } = deps;
  const question = queryOf(deps, query);
  const [summary, outstandingAmount, customerCount] = await Promise.all([
    summaryOf(deps, organizationId, question),
    outstanding(deps, organizationId, question.currency),
    countCustomers(db, organizationId),
  ]);
  return { ...summary, outstandingAmount, customerCount };
}

async function charts(
  deps: AnalyticsDependencies,
  organizationId: Id<"organization">,
  query: ChartsQuery,
): Promise<MerchantCharts> {
  const { db } = deps;
  const question = queryOf(deps, query);
  const { period, currency } = question;
  const charts = await chartsOf(deps, organizationId, query);
  const [byStatus, drafts] = await Promise.all([
    invoicesOf(deps, organizationId, question),
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
}

/** Returns a ranking, largest volume first. */
function topCustomers(
  deps: AnalyticsDependencies,
  organizationId: Id<"organization">,
  query: TopQuery,
): Promise<TopCustomer[]> {
  const { db } = deps;
  return top(deps, organizationId, "customer", query, (ids) =>
    customersById(db, organizationId, ids),
  );
}

function topWallets(
  deps: AnalyticsDependencies,
  organizationId: Id<"organization">,
  query: TopQuery,
): Promise<TopWallet[]> {
  const { db } = deps;
  return top(deps, organizationId, "wallet", query, (ids) => walletsById(db, organizationId, ids));
}

async function platformSummary(
  deps: AnalyticsDependencies,
  query: FiguresQuery,
): Promise<PlatformSummary> {
  const { db } = deps;
  const question = queryOf(deps, query);
  const { currency } = question;
  const [summary, organizationCount, pendingReviewCount, recurring] = await Promise.all([
    summaryOf(deps, platformScope, question),
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
}

async function platformCharts(
  deps: AnalyticsDependencies,
  query: ChartsQuery,
): Promise<PlatformCharts> {
  const { db } = deps;
  const charts = await chartsOf(deps, platformScope, query);
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
}

function topOrganizations(
  deps: AnalyticsDependencies,
  query: TopQuery,
): Promise<TopOrganization[]> {
  const { db } = deps;
  return top(deps, platformScope, "organization", query, (ids) => organizationsById(db, ids));
}

/** Returns an organization's name; null if it does not exist. */
async function nameOf(
  { db }: AnalyticsDependencies,
  organizationId: Id<"organization">,
): Promise<string | null> {
  const [found] = await organizationsById(db, [organizationId]);
  return found?.name ?? null;
}

/** Counts a period's issued invoices and confirmed payments, and the volume in one currency, for usage. */
async function countUsage(
  deps: AnalyticsDependencies,
  organizationId: Id<"organization">,
  period: Period,
  code: string,
): ReturnType<UsageCounter> {
  const { db, clock } = deps;
  const now = clock.now();
  const all = { scope: organizationId, period, currency: null };
  const { currency } = queryOf(deps, { currency: code });
  const [invoices, counted, payments, processed] = await Promise.all([
    sumBySubject(db, { ...all, measure: "invoices" }, now),
    countUsed(db, organizationId, period.from, period.to),
    sumBySubject(db, { ...all, measure: "volume" }, now),
    volumeOf(deps, organizationId, { period, currency }),
  ]);
  return {
    invoicesCreated: invoices.reduce((count, { items }) => count + items, 0),
    invoicesCounted: counted,
    paymentsConfirmed: payments.reduce((count, { items }) => count + items, 0),
    processedVolume: processed.volume,
  };
}

async function outstanding(
  { db, clock }: AnalyticsDependencies,
  organizationId: Id<"organization">,
  currency: Asset,
): Promise<Money> {
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
