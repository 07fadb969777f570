export { TooManyBuckets } from "./errors.ts";
export {
  presentPlatformCharts,
  presentPlatformSummary,
  presentTopOrganizations,
} from "./present.ts";
export { chartsQuery, figuresQuery, topQuery } from "./query.ts";
export {
  PlatformAnalyticsChartsRecord,
  PlatformAnalyticsSummaryRecord,
  TopOrganizationListRecord,
} from "./records.ts";
export { makeAnalyticsService, type AnalyticsService } from "./service.ts";
