import type { z } from "zod";
import { toIso } from "../../kernel/clock.ts";
import { formatMoney } from "../../kernel/money/money.ts";
import { divideRounded } from "../../kernel/money/ratio.ts";
import type {
  AnalyticsSummaryRecord,
  MerchantAnalyticsChartsRecord,
  MerchantAnalyticsSummaryRecord,
  MerchantVolumeSeriesPointRecord,
  PlatformAnalyticsChartsRecord,
  PlatformAnalyticsSummaryRecord,
  TopCustomerListRecord,
  TopOrganizationListRecord,
  TopWalletListRecord,
} from "./records.ts";
import type { Bucket, Charts, Summary, Volume } from "./scope-figures.ts";
import type {
  MerchantCharts,
  MerchantSummary,
  PlatformCharts,
  PlatformSummary,
  TopCustomer,
  TopOrganization,
  TopWallet,
} from "./service.ts";

function presentSummary(summary: Summary): z.input<typeof AnalyticsSummaryRecord> {
  const { period, processed, invoiceCount, paidInvoiceCount } = summary;
  return {
    from: toIso(period.from),
    to: toIso(period.to),
    currency: processed.volume.asset.code,
    processedVolume: formatMoney(processed.volume),
    paymentCount: processed.paymentCount,
    invoiceCount,
    paidInvoiceCount,
    averageInvoiceAmount: formatMoney(summary.averageInvoiceAmount),
    conversionRate: rateOf(paidInvoiceCount, invoiceCount),
  };
}

/** Formats a ratio such as `0.67`: two decimals, rounded half to even; `0.00` if the whole is zero. */
function rateOf(part: number, whole: number): string {
  const hundredths =
    whole === 0 ? 0n : divideRounded(100n * BigInt(part), BigInt(whole), "half_even");
  return `${String(hundredths / 100n)}.${String(hundredths % 100n).padStart(2, "0")}`;
}

export function presentMerchantSummary(
  summary: MerchantSummary,
): z.input<typeof MerchantAnalyticsSummaryRecord> {
  return {
    ...presentSummary(summary),
    outstandingAmount: formatMoney(summary.outstandingAmount),
    customerCount: summary.customerCount,
  };
}

export function presentPlatformSummary(
  summary: PlatformSummary,
): z.input<typeof PlatformAnalyticsSummaryRecord> {
  return {
    ...presentSummary(summary),
    organizationCount: summary.organizationCount,
    pendingReviewCount: summary.pendingReviewCount,
    activeSubscriptionCount: summary.activeSubscriptionCount,
    monthlyRecurringRevenue: formatMoney(summary.monthlyRecurringRevenue),
  };
}

function presentCharts({ period, currency, interval, volumes }: Charts) {
  return {
    from: toIso(period.from),
    to: toIso(period.to),
    currency: currency.code,
    interval,
    volumeSeries: volumes.map(presentPoint),
  };
}

function presentPoint({
  start,
  volume,
  paymentCount,
}: Bucket<Volume>): z.input<typeof MerchantVolumeSeriesPointRecord> {
  return { periodStart: toIso(start), volume: formatMoney(volume), paymentCount };
}

export function presentMerchantCharts(
  charts: MerchantCharts,
): z.input<typeof MerchantAnalyticsChartsRecord> {
  return {
    ...presentCharts(charts),
    invoiceStatusBreakdown: charts.statuses.map(({ status, count, amount }) => ({
      status,
      count,
      amount: formatMoney(amount),
    })),
  };
}

export function presentPlatformCharts(
  charts: PlatformCharts,
): z.input<typeof PlatformAnalyticsChartsRecord> {
  return {
    ...presentCharts(charts),
    revenueSeries: charts.revenue.map(presentPoint),
    organizationSeries: charts.organizations.map(({ start, created, approved }) => ({
      periodStart: toIso(start),
      created,
      approved,
    })),
  };
}

/** Presents a ranking as a list with a single page. */
function onePage<T>(data: T[]): { data: T[]; nextCursor: null } {
  return { data, nextCursor: null };
}

export function presentTopCustomers(
  ranking: readonly TopCustomer[],
): z.input<typeof TopCustomerListRecord> {
  return onePage(
    ranking.map(({ id, volume, ...rest }) => ({
      customerId: id,
      ...rest,
      volume: formatMoney(volume),
    })),
  );
}

export function presentTopWallets(
  ranking: readonly TopWallet[],
): z.input<typeof TopWalletListRecord> {
  return onePage(
    ranking.map(({ id, volume, ...rest }) => ({
      walletId: id,
      ...rest,
      volume: formatMoney(volume),
    })),
  );
}

export function presentTopOrganizations(
  ranking: readonly TopOrganization[],
): z.input<typeof TopOrganizationListRecord> {
  return onePage(
    ranking.map(({ id, volume, ...rest }) => ({
      organizationId: id,
      ...rest,
      volume: formatMoney(volume),
    })),
  );
}
