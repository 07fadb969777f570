import type { App } from "../../app.ts";
import type { Asset } from "../../kernel/money/asset.ts";
import type { Id } from "../../kernel/id.ts";
import { money, type Money } from "../../kernel/money/money.ts";
import { platformRevenue, recurringRevenue } from "../billing/operator/revenue.ts";
import { invoiceStatuses, type InvoiceStatus } from "../invoices/rules.ts";
import { platformScope } from "../usage/table.ts";
import { sumBySubject, type Sum } from "./figures.ts";
import type { Period } from "./periods.ts";
import type { ChartsInput, FiguresQuery, TopInput } from "./query.ts";
import {
  chartsOf,
  intoBuckets,
  invoicesOf,
  queryOf,
  summaryOf,
  top,
  toMoney,
  type Bucket,
  type Charts,
  type Summary,
  type Top,
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

/** The whole range of a JavaScript date from 1970 on. */
const always: Period = { from: 0, to: 8_640_000_000_000_000 };

/** Counts payments by block time and invoices by issue time; the outstanding amount and customers are current. */
export async function getMerchantSummary(
  app: App,
  organizationId: Id<"organization">,
  query: FiguresQuery,
): Promise<MerchantSummary> {
  const { db } = app;
  const question = queryOf(app, query);
  const [summary, outstandingAmount, customerCount] = await Promise.all([
    summaryOf(app, organizationId, question),
    outstanding(app, organizationId, question.currency),
    countCustomers(db, organizationId),
  ]);
  return { ...summary, outstandingAmount, customerCount };
}

/** Returns the series of a period, and its invoices by status. */
export async function getMerchantCharts(
  app: App,
  organizationId: Id<"organization">,
  query: ChartsInput,
): Promise<MerchantCharts> {
  const { db } = app;
  const question = queryOf(app, query);
  const { period, currency } = question;
  const charts = await chartsOf(app, organizationId, query);
  const [byStatus, drafts] = await Promise.all([
    invoicesOf(app, organizationId, question),
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

/** Ranks an organization's customers, largest volume first. */
export function listTopCustomers(
  app: App,
  organizationId: Id<"organization">,
  query: TopInput,
): Promise<TopCustomer[]> {
  const { db } = app;
  return top(app, organizationId, "customer", query, (ids) =>
    customersById(db, organizationId, ids),
  );
}

/** Ranks an organization's wallets, largest volume first. */
export function listTopWallets(
  app: App,
  organizationId: Id<"organization">,
  query: TopInput,
): Promise<TopWallet[]> {
  const { db } = app;
  return top(app, organizationId, "wallet", query, (ids) => walletsById(db, organizationId, ids));
}

/** Counts as `getMerchantSummary` does, for all organizations. */
export async function getPlatformSummary(app: App, query: FiguresQuery): Promise<PlatformSummary> {
  const { db } = app;
  const question = queryOf(app, query);
  const { currency } = question;
  const [summary, organizationCount, pendingReviewCount, recurring] = await Promise.all([
    summaryOf(app, platformScope, question),
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

/** Returns the series of a period for all organizations. */
export async function getPlatformCharts(app: App, query: ChartsInput): Promise<PlatformCharts> {
  const { db } = app;
  const charts = await chartsOf(app, platformScope, query);
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

/** Ranks organizations, largest volume first. */
export function listTopOrganizations(app: App, query: TopInput): Promise<TopOrganization[]> {
  const { db } = app;
  return top(app, platformScope, "organization", query, (ids) => organizationsById(db, ids));
}

/** Returns an organization's name; null if it does not exist. */
export async function findOrganizationName(
  { db }: App,
  organizationId: Id<"organization">,
): Promise<string | null> {
  const [found] = await organizationsById(db, [organizationId]);
  return found?.name ?? null;
}

async function outstanding(
  { db, clock }: App,
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
