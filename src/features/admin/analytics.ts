import { platform } from "../../api/access.ts";
import { operationsOf } from "../../api/operation.ts";
import {
  chartsQuery,
  figuresQuery,
  PlatformAnalyticsChartsRecord,
  PlatformAnalyticsSummaryRecord,
  presentPlatformCharts,
  presentPlatformSummary,
  presentTopOrganizations,
  TooManyBuckets,
  TopOrganizationListRecord,
  topQuery,
  type AnalyticsService,
} from "../analytics/index.ts";

const operation = operationsOf<AnalyticsService>();
const access = platform("platform:read");

export const adminAnalyticsOperations = [
  operation({
    id: "adminGetAnalyticsSummary",
    group: "Admin",
    method: "GET",
    path: "/admin/analytics/summary",
    summary: "Get the figures of all organizations together",
    description: "As a merchant's summary; organizations and reviews are those of now.",
    access,
    request: { query: figuresQuery },
    response: { status: 200, record: PlatformAnalyticsSummaryRecord },
    errors: [],
    handle: (service, call) => service.platformSummary(call.query),
    present: presentPlatformSummary,
  }),
  operation({
    id: "adminGetAnalyticsCharts",
    group: "Admin",
    method: "GET",
    path: "/admin/analytics/charts",
    summary: "Get the figures of all organizations as series",
    access,
    request: { query: chartsQuery },
    response: { status: 200, record: PlatformAnalyticsChartsRecord },
    errors: [TooManyBuckets],
    handle: (service, call) => service.platformCharts(call.query),
    present: presentPlatformCharts,
  }),
  operation({
    id: "adminListTopOrganizations",
    group: "Admin",
    method: "GET",
    path: "/admin/analytics/top-organizations",
    summary: "List the organizations that were paid most",
    description: "The list has one page.",
    access,
    request: { query: topQuery },
    response: { status: 200, record: TopOrganizationListRecord },
    errors: [],
    handle: (service, call) => service.topOrganizations(call.query),
    present: presentTopOrganizations,
  }),
];
