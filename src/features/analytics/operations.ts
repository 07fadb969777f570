import { organization } from "../../api/access.ts";
import { operationsOf } from "../../api/operation.ts";
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
const access = organization("organization:read");
const periodWords =
  "`from` is included, `to` is not; by default the last 30 days. Figures are of one settlement currency, by default USD.";

export const analyticsOperations = [
  operation({
    id: "getMerchantAnalyticsSummary",
    group: "Analytics",
    method: "GET",
    path: "/organizations/{organizationId}/analytics/summary",
    summary: "Get the figures of a period",
    description: `${periodWords} Payments count once they are confirmed, by the time of their block, and invoices by the time of their issue. What is outstanding, and customers, are those of now.`,
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
    summary: "Get the figures of a period as series",
    description: `${periodWords} Days, weeks from Monday and months are those of UTC; each that the period has a part in is there, empty ones too, at most 400. Invoices by status are those issued in the period, and drafts those made in it.`,
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
    summary: "List the customers who paid most",
    description: `${periodWords} The list has one page.`,
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
    summary: "List the wallets that received most",
    description: `${periodWords} The list has one page.`,
    access,
    request: { query: topQuery },
    response: { status: 200, record: TopWalletListRecord },
    errors: [],
    handle: (service, call) => service.topWallets(call.organizationId, call.query),
    present: presentTopWallets,
  }),
];
