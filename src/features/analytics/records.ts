import { z } from "zod";
import {
  datetime,
  id,
  listRecord,
  moneyAnswer,
  record,
  responseRecord,
} from "../../api/declare/record.ts";
import { InvoiceStatusRecord } from "../invoices/index.ts";
import { intervals } from "./buckets.ts";

export const AnalyticsSummaryRecord = responseRecord("AnalyticsSummary", {
  from: datetime(),
  to: datetime(),
  currency: z.string(),
  /** Total value of confirmed payments, by block time. */
  processedVolume: moneyAnswer(),
  paymentCount: z.int().min(0),
  /** Invoices issued in the period, including canceled ones. */
  invoiceCount: z.int().min(0),
  /** The issued invoices that are paid. */
  paidInvoiceCount: z.int().min(0),
  averageInvoiceAmount: moneyAnswer(),
  /** Paid invoices divided by issued ones. */
  conversionRate: z.string().regex(/^(0\.\d\d|1\.00)$/),
});

export const MerchantAnalyticsSummaryRecord = record(
  "MerchantAnalyticsSummary",
  AnalyticsSummaryRecord.extend({
    /** Amount still owed on open invoices now, whenever they were issued. */
    outstandingAmount: moneyAnswer(),
    customerCount: z.int().min(0),
  }),
);

export const PlatformAnalyticsSummaryRecord = record(
  "PlatformAnalyticsSummary",
  AnalyticsSummaryRecord.extend({
    organizationCount: z.int().min(0),
    pendingReviewCount: z.int().min(0),
    activeSubscriptionCount: z.int().min(0),
    monthlyRecurringRevenue: moneyAnswer(),
  }),
);

export const MerchantVolumeSeriesPointRecord = responseRecord("MerchantVolumeSeriesPoint", {
  periodStart: datetime(),
  volume: moneyAnswer(),
  paymentCount: z.int().min(0),
});

export const MerchantInvoiceStatusBreakdownItemRecord = responseRecord(
  "MerchantInvoiceStatusBreakdownItem",
  {
    status: InvoiceStatusRecord,
    count: z.int().min(0),
    amount: moneyAnswer(),
  },
);

export const MerchantAnalyticsChartsRecord = responseRecord("MerchantAnalyticsCharts", {
  from: datetime(),
  to: datetime(),
  currency: z.string(),
  interval: z.enum(intervals),
  volumeSeries: z.array(MerchantVolumeSeriesPointRecord),
  invoiceStatusBreakdown: z.array(MerchantInvoiceStatusBreakdownItemRecord),
});

export const OrganizationSeriesPointRecord = responseRecord("OrganizationSeriesPoint", {
  periodStart: datetime(),
  created: z.int().min(0),
  approved: z.int().min(0),
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

const volumeFields = { volume: moneyAnswer(), paymentCount: z.int().min(1) };

export const TopCustomerListRecord = listRecord(
  "TopCustomerList",
  responseRecord("TopCustomer", {
    customerId: id("customer"),
    name: z.string(),
    email: z.string().nullable(),
    ...volumeFields,
  }),
);

export const TopWalletListRecord = listRecord(
  "TopWalletList",
  responseRecord("TopWallet", {
    walletId: id("wallet"),
    label: z.string(),
    network: z.string(),
    address: z.string(),
    ...volumeFields,
  }),
);

export const TopOrganizationListRecord = listRecord(
  "TopOrganizationList",
  responseRecord("TopOrganization", {
    organizationId: id("organization"),
    name: z.string(),
    ...volumeFields,
  }),
);
