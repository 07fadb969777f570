import { pageParameters } from "../../http/declare/list.ts";
import { platform } from "../../http/declare/permissions.ts";
import type { FeatureModule } from "../../http/declare/feature-module.ts";
import { operation } from "../../http/declare/operation.ts";
import {
  getPlatformCharts,
  getPlatformSummary,
  listTopOrganizations,
} from "../analytics/analytics.ts";
import { chartsQuery, figuresQuery, TooManyBuckets, topQuery } from "../analytics/query.ts";
import {
  PlatformAnalyticsChartsRecord,
  PlatformAnalyticsSummaryRecord,
  presentPlatformCharts,
  presentPlatformSummary,
  presentTopOrganizations,
  TopOrganizationListRecord,
} from "../analytics/records.ts";
import {
  AdminFailedQueueJobListRecord,
  AdminOperationsStatusRecord,
  AdminWebhookDeliveryListRecord,
  platformDeliveryQuery,
  presentFailedJobs,
  presentPlatformDeliveries,
} from "./oversight-records.ts";
import { listOwnedDeliveries } from "./oversight.ts";
import { listFailedJobs } from "./queues.ts";
import { backupMetrics, checkMetrics, workMetrics } from "./status/metrics.ts";
import { readOperationsStatus } from "./status/operations-status.ts";
import { presentOperationsStatus } from "./status/stored-status.ts";
import { listAuditLogsOperation, oversightOperations } from "./oversight-api.ts";

const access = platform("platform:read");

const adminOperations = [
  ...oversightOperations,
  operation({
    id: "adminListWebhookDeliveries",
    group: "Admin",
    method: "GET",
    path: "/admin/webhook-deliveries",
    summary: "List the webhook deliveries of all organizations",
    access,
    request: { query: platformDeliveryQuery },
    response: { status: 200, record: AdminWebhookDeliveryListRecord },
    errors: [],
    handle: (app, call) => listOwnedDeliveries(app, call.query),
    present: presentPlatformDeliveries,
  }),
  operation({
    id: "adminListFailedJobs",
    group: "Admin",
    method: "GET",
    path: "/admin/queues/{queue}/failed-jobs",
    summary: "List the failed jobs of a queue",
    description:
      "Latest failure first. The queues are `webhooks` (its failed jobs are the dead letters), `chain`, `billing` and `maintenance`.",
    access,
    request: { query: pageParameters },
    response: { status: 200, record: AdminFailedQueueJobListRecord },
    errors: [],
    handle: (app, call) => listFailedJobs(app, call.params.queue, call.query),
    present: presentFailedJobs,
  }),
  operation({
    id: "adminGetOperationsStatus",
    group: "Admin",
    method: "GET",
    path: "/admin/operations/status",
    summary: "Get the status of the installation",
    description:
      "Runs the checks now: tests a write to the store and counts the backlogs. The status of a network is the last one recorded by the server that reads it.",
    access,
    response: { status: 200, record: AdminOperationsStatusRecord },
    errors: [],
    handle: (app, call) => readOperationsStatus(app, call.context),
    present: presentOperationsStatus,
  }),
  listAuditLogsOperation,
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

export const adminModule: FeatureModule = {
  operations: adminOperations,
  metrics: (app) => [workMetrics(app), backupMetrics(app), checkMetrics(app)],
};
