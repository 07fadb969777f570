import { platform } from "../../api/declare/access.ts";
import { operation } from "../../api/declare/operation.ts";
import {
  getPlatformCharts,
  getPlatformSummary,
  listTopOrganizations,
} from "../analytics/analytics.ts";
import { TooManyBuckets } from "../analytics/periods.ts";
import { chartsQuery, figuresQuery, topQuery } from "../analytics/query.ts";
import {
  PlatformAnalyticsChartsRecord,
  PlatformAnalyticsSummaryRecord,
  presentPlatformCharts,
  presentPlatformSummary,
  presentTopOrganizations,
  TopOrganizationListRecord,
} from "../analytics/records.ts";

const access = platform("platform:read");

export const adminAnalyticsOperations = [
  operation({
    id: "adminGetAnalyticsSummary",
    group: "Admin",
    method: "GET",
    path: "/admin/analytics/summary",
    summary: "Get statistics across all organizations",
    description:
      "Like a merchant's summary. The counts of organizations and pending reviews are current.",
    access,
    request: { query: figuresQuery },
    response: { status: 200, record: PlatformAnalyticsSummaryRecord },
    errors: [],
    handle: (app, call) => getPlatformSummary(app, call.query),
    present: presentPlatformSummary,
  }),
  operation({
    id: "adminGetAnalyticsCharts",
    group: "Admin",
    method: "GET",
    path: "/admin/analytics/charts",
    summary: "Get time series across all organizations",
    access,
    request: { query: chartsQuery },
    response: { status: 200, record: PlatformAnalyticsChartsRecord },
    errors: [TooManyBuckets],
    handle: (app, call) => getPlatformCharts(app, call.query),
    present: presentPlatformCharts,
  }),
  operation({
    id: "adminListTopOrganizations",
    group: "Admin",
    method: "GET",
    path: "/admin/analytics/top-organizations",
    summary: "List the organizations with the highest payment volume",
    description: "Returns a single page.",
    access,
    request: { query: topQuery },
    response: { status: 200, record: TopOrganizationListRecord },
    errors: [],
    handle: (app, call) => listTopOrganizations(app, call.query),
    present: presentTopOrganizations,
  }),
];
