import { organization } from "../../api/declare/access.ts";
import { operationsOf } from "../../api/declare/operation.ts";
import { TooManyBuckets } from "./errors.ts";
import {
  presentMerchantCharts,
  presentMerchantSummary,
  presentTopCustomers,
  presentTopWallets,
} from "./present.ts";
import { chartsQuery, figuresQuery, topQuery } from "./query.ts";
import {
  MerchantAnalyticsChartsRecord,
  MerchantAnalyticsSummaryRecord,
  TopCustomerListRecord,
  TopWalletListRecord,
} from "./records.ts";
import type { AnalyticsService } from "./service.ts";

const operation = operationsOf<AnalyticsService>();
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
    handle: (service, call) => service.summary(call.organizationId, call.query),
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
    handle: (service, call) => service.charts(call.organizationId, call.query),
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
    handle: (service, call) => service.topCustomers(call.organizationId, call.query),
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
    handle: (service, call) => service.topWallets(call.organizationId, call.query),
    present: presentTopWallets,
  }),
];
