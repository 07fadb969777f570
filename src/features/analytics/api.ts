import { organization } from "../../http/declare/permissions.ts";
import type { FeatureModule } from "../../http/declare/feature-module.ts";
import { operation } from "../../http/declare/operation.ts";
import {
  getMerchantCharts,
  getMerchantSummary,
  listTopCustomers,
  listTopWallets,
} from "./analytics.ts";
import { analyticsChecks } from "./checks.ts";
import { chartsQuery, figuresQuery, TooManyBuckets, topQuery } from "./query.ts";
import {
  MerchantAnalyticsChartsRecord,
  MerchantAnalyticsSummaryRecord,
  presentMerchantCharts,
  presentMerchantSummary,
  presentTopCustomers,
  presentTopWallets,
  presentUsage,
  TopCustomerListRecord,
  TopWalletListRecord,
  UsageSummaryRecord,
} from "./records.ts";
import { getUsage } from "./usage.ts";

const access = organization("analytics:read");
const periodWords =
  "`from` is inclusive, `to` exclusive; the default is the last 30 days. Amounts are in one settlement currency, by default USD.";

export const analyticsOperations = [
  operation({
    id: "getMerchantAnalyticsSummary",
    group: "Analytics",
    method: "GET",
    path: "/organizations/{organizationId}/analytics/summary",
    summary: "Get statistics for a period",
    description: `${periodWords} Confirmed payments count by their block time, invoices by their issue time. The outstanding amount and the number of customers are current.`,
    access,
    request: { query: figuresQuery },
    response: { status: 200, record: MerchantAnalyticsSummaryRecord },
    errors: [],
    handle: (app, call) => getMerchantSummary(app, call.organizationId, call.query),
    present: presentMerchantSummary,
  }),
  operation({
    id: "getMerchantAnalyticsCharts",
    group: "Analytics",
    method: "GET",
    path: "/organizations/{organizationId}/analytics/charts",
    summary: "Get time series for a period",
    description: `${periodWords} Days, weeks (from Monday) and months are in UTC. The series has every interval that overlaps the period, including empty ones, at most 400. The breakdown by status covers invoices issued, and drafts created, in the period.`,
    access,
    request: { query: chartsQuery },
    response: { status: 200, record: MerchantAnalyticsChartsRecord },
    errors: [TooManyBuckets],
    handle: (app, call) => getMerchantCharts(app, call.organizationId, call.query),
    present: presentMerchantCharts,
  }),
  operation({
    id: "listTopCustomers",
    group: "Analytics",
    method: "GET",
    path: "/organizations/{organizationId}/analytics/top-customers",
    summary: "List the customers with the highest payment volume",
    description: `${periodWords} Returns a single page.`,
    access,
    request: { query: topQuery },
    response: { status: 200, record: TopCustomerListRecord },
    errors: [],
    handle: (app, call) => listTopCustomers(app, call.organizationId, call.query),
    present: presentTopCustomers,
  }),
  operation({
    id: "listTopWallets",
    group: "Analytics",
    method: "GET",
    path: "/organizations/{organizationId}/analytics/top-wallets",
    summary: "List the wallets with the highest payment volume",
    description: `${periodWords} Returns a single page.`,
    access,
    request: { query: topQuery },
    response: { status: 200, record: TopWalletListRecord },
    errors: [],
    handle: (app, call) => listTopWallets(app, call.organizationId, call.query),
    present: presentTopWallets,
  }),
  operation({
    id: "getUsage",
    group: "Usage",
    method: "GET",
    path: "/organizations/{organizationId}/usage",
    summary: "Get the usage of the current period",
    description:
      "The period is that of the subscription or, without one, the calendar month in UTC. Invoices count when they are issued. Payments count once confirmed, by their block time, in every currency; `processedVolume` covers only `currency`.",
    access,
    response: { status: 200, record: UsageSummaryRecord },
    errors: [],
    handle: (app, call) => getUsage(app, call.organizationId),
    present: presentUsage,
  }),
];

export const analyticsModule: FeatureModule = {
  operations: analyticsOperations,
  checks: analyticsChecks,
};
