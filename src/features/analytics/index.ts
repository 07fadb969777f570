export { analyticsChecks } from "./checks.ts";
export { TooManyBuckets } from "./errors.ts";
export { analyticsOperations } from "./operations.ts";
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
