import * as z from "zod";
import {
  datetime,
  describeFields,
  id,
  listRecord,
  moneyText,
  record,
  responseRecord,
} from "../../http/declare/record.ts";
import { toIso } from "../../kernel/clock.ts";
import { formatMoney } from "../../kernel/money/money.ts";
import { divideRounded } from "../../kernel/money/ratio.ts";
import { InvoiceStatusRecord } from "../invoices/records.ts";
import type {
  MerchantCharts,
  MerchantSummary,
  PlatformCharts,
  PlatformSummary,
  TopCustomer,
  TopOrganization,
  TopWallet,
} from "./analytics.ts";
import { intervals } from "./query.ts";
import type { Bucket, Charts, Summary, Volume } from "./figures.ts";
import type { Usage } from "./usage.ts";

const AnalyticsSummaryRecord = responseRecord("AnalyticsSummary", {
  from: datetime(),
  to: datetime(),
  currency: z.string(),
  processedVolume: moneyText(),
  paymentCount: z.int().min(0),
  invoiceCount: z.int().min(0),
  paidInvoiceCount: z.int().min(0),
  averageInvoiceAmount: moneyText(),
  conversionRate: z.string().regex(/^(0\.\d\d|1\.00)$/),
});
describeFields(AnalyticsSummaryRecord, {
  from: "Start of the period, inclusive: ISO 8601, UTC.",
  to: "End of the period, exclusive: ISO 8601, UTC.",
  processedVolume:
    "The value of the payments that were confirmed, by block time: a decimal string in `currency`.",
  paymentCount: "Number of those payments.",
  invoiceCount: "Number of invoices that were issued in the period, including canceled ones.",
  paidInvoiceCount: "Number of those invoices that are paid.",
  averageInvoiceAmount:
    "The average amount of those invoices: a decimal string in `currency`, rounded half to even; zero without invoices.",
  conversionRate:
    "The paid share of those invoices, from `0.00` to `1.00`: two decimals, rounded half to even; `0.00` without invoices.",
});

export const MerchantAnalyticsSummaryRecord = record(
  "MerchantAnalyticsSummary",
  AnalyticsSummaryRecord.extend({
    /** Amount still owed on open invoices now, whenever they were issued. */
    outstandingAmount: moneyText(),
    customerCount: z.int().min(0),
  }),
);
describeFields(MerchantAnalyticsSummaryRecord, {
  outstandingAmount:
    "The amount that open and partially paid invoices still ask for now, whenever they were issued: a decimal string in `currency`.",
  customerCount: "Number of customers now.",
});

export const PlatformAnalyticsSummaryRecord = record(
  "PlatformAnalyticsSummary",
  AnalyticsSummaryRecord.extend({
    organizationCount: z.int().min(0),
    pendingReviewCount: z.int().min(0),
    activeSubscriptionCount: z.int().min(0),
    monthlyRecurringRevenue: moneyText(),
  }),
);
describeFields(PlatformAnalyticsSummaryRecord, {
  organizationCount: "Number of organizations now.",
  pendingReviewCount: "Number of organizations that wait for a review now.",
  activeSubscriptionCount: "Number of active and past due subscriptions now.",
  monthlyRecurringRevenue:
    "The monthly price of those subscriptions' plans: a decimal string in `currency`; a twelfth of a yearly price.",
});

const MerchantVolumeSeriesPointRecord = responseRecord("MerchantVolumeSeriesPoint", {
  periodStart: datetime(),
  volume: moneyText(),
  paymentCount: z.int().min(0),
});
describeFields(MerchantVolumeSeriesPointRecord, {
  periodStart: "Start of the interval: ISO 8601, UTC.",
  volume:
    "The value of the payments that were confirmed in the interval, by block time: a decimal string in `currency`.",
  paymentCount: "Number of those payments.",
});

const MerchantInvoiceStatusBreakdownItemRecord = responseRecord(
  "MerchantInvoiceStatusBreakdownItem",
  {
    status: InvoiceStatusRecord,
    count: z.int().min(0),
    amount: moneyText(),
  },
);
describeFields(MerchantInvoiceStatusBreakdownItemRecord, {
  status: "The status that is counted.",
  count: "Number of invoices with this status.",
  amount: "The sum of their amounts: a decimal string in `currency`.",
});

export const MerchantAnalyticsChartsRecord = responseRecord("MerchantAnalyticsCharts", {
  from: datetime(),
  to: datetime(),
  currency: z.string(),
  interval: z.enum(intervals),
  volumeSeries: z.array(MerchantVolumeSeriesPointRecord),
  invoiceStatusBreakdown: z.array(MerchantInvoiceStatusBreakdownItemRecord),
});
describeFields(MerchantAnalyticsChartsRecord, {
  from: "Start of the period, inclusive: ISO 8601, UTC.",
  to: "End of the period, exclusive: ISO 8601, UTC.",
  interval:
    "The length of one point of the series; days, weeks and months are in UTC, and weeks start on Monday.",
  volumeSeries: "Confirmed payments by interval, including intervals without any.",
  invoiceStatusBreakdown:
    "Invoices by status: those that were issued in the period, and the drafts that were created in it.",
});

const OrganizationSeriesPointRecord = responseRecord("OrganizationSeriesPoint", {
  periodStart: datetime(),
  created: z.int().min(0),
  approved: z.int().min(0),
});
describeFields(OrganizationSeriesPointRecord, {
  periodStart: "Start of the interval: ISO 8601, UTC.",
  created: "Number of organizations that were created in the interval.",
  approved: "Number of organizations that were approved in the interval.",
});

export const PlatformAnalyticsChartsRecord = responseRecord("PlatformAnalyticsCharts", {
  from: datetime(),
  to: datetime(),
  currency: z.string(),
  interval: z.enum(intervals),
  volumeSeries: z.array(MerchantVolumeSeriesPointRecord),
  revenueSeries: z.array(MerchantVolumeSeriesPointRecord),
  organizationSeries: z.array(OrganizationSeriesPointRecord),
});
describeFields(PlatformAnalyticsChartsRecord, {
  from: "Start of the period, inclusive: ISO 8601, UTC.",
  to: "End of the period, exclusive: ISO 8601, UTC.",
  interval:
    "The length of one point of the series; days, weeks and months are in UTC, and weeks start on Monday.",
  volumeSeries:
    "Confirmed payments of all organizations by interval, including intervals without any.",
  revenueSeries: "Payments of platform invoices by interval, including intervals without any.",
  organizationSeries:
    "New and approved organizations by interval, including intervals without any.",
});

const volumeFields = { volume: moneyText(), paymentCount: z.int().min(1) };

export const TopCustomerListRecord = listRecord(
  "TopCustomerList",
  describeFields(
    responseRecord("TopCustomer", {
      customerId: id("customer"),
      name: z.string(),
      email: z.string().nullable(),
      ...volumeFields,
    }),
    {
      name: "The customer's name.",
      email: "The customer's e-mail address; null without one.",
      volume:
        "The value of the confirmed payments in the period: a decimal string in the requested currency.",
      paymentCount: "Number of those payments.",
    },
  ),
);

export const TopWalletListRecord = listRecord(
  "TopWalletList",
  describeFields(
    responseRecord("TopWallet", {
      walletId: id("wallet"),
      label: z.string(),
      network: z.string(),
      address: z.string(),
      ...volumeFields,
    }),
    {
      label: "The wallet's label.",
      address: "The wallet's address, or the fingerprint of its extended key.",
    },
  ),
);

export const TopOrganizationListRecord = listRecord(
  "TopOrganizationList",
  describeFields(
    responseRecord("TopOrganization", {
      organizationId: id("organization"),
      name: z.string(),
      ...volumeFields,
    }),
    {
      name: "The organization's name.",
    },
  ),
);

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

export const UsageSummaryRecord = responseRecord("UsageSummary", {
  organizationId: id("organization"),
  plan: z.string().nullable(),
  periodStart: datetime(),
  periodEnd: datetime(),
  invoicesCreated: z.int().min(0),
  invoicesCounted: z.int().min(0),
  invoicesIncluded: z.int().min(0).nullable(),
  paymentsConfirmed: z.int().min(0),
  processedVolume: moneyText(),
  currency: z.string(),
  overageAmount: moneyText(),
});
describeFields(UsageSummaryRecord, {
  plan: "The id of the plan; null without a subscription.",
  periodStart:
    "Start of the current period, inclusive: the subscription's or, without one, the calendar month in UTC: ISO 8601, UTC.",
  periodEnd: "End of the current period, exclusive: ISO 8601, UTC.",
  invoicesCreated:
    "Number of invoices issued in the period, including canceled ones. Never decreases.",
  invoicesCounted:
    "Number of invoices that count against the plan in the period: an invoice that a payer started at a payment link counts once money for it is seen, another one at its issue.",
  invoicesIncluded:
    "Number of invoices that the plan's price includes; null if unlimited, or without a subscription.",
  paymentsConfirmed: "Number of payments confirmed in the period, in every currency.",
  processedVolume:
    "The value of the confirmed payments of invoices in `currency`: a decimal string.",
  currency: "The currency of the plan; `USD` without one.",
  overageAmount:
    "The price of the invoices beyond the included ones: a decimal string in `currency`.",
});

export function presentUsage(usage: Usage): z.input<typeof UsageSummaryRecord> {
  const { asset } = usage.processedVolume;
  return {
    organizationId: usage.organizationId,
    plan: usage.plan?.id ?? null,
    periodStart: toIso(usage.period.from),
    periodEnd: toIso(usage.period.to),
    invoicesCreated: usage.invoicesCreated,
    invoicesCounted: usage.invoicesCounted,
    invoicesIncluded: usage.plan?.invoicesIncluded ?? null,
    paymentsConfirmed: usage.paymentsConfirmed,
    processedVolume: formatMoney(usage.processedVolume),
    currency: asset.code,
    overageAmount: formatMoney(usage.overage),
  };
}
