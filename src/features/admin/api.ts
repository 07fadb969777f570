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
import { listAllAuditLogs } from "../audit-logs/audit-logs.ts";
import {
  adminAuditLogQuery,
  AuditLogListRecord,
  presentAuditLogs,
  withTimes,
} from "../audit-logs/records.ts";
import { VerificationConflict } from "../organizations/verification.ts";
import { platformPaymentQuery, readPaymentQuery } from "../payments/records.ts";
import {
  getOrganizationDetail,
  listAllOrganizations,
  reviewOrganization,
} from "./organizations.ts";
import {
  AdminFailedQueueJobListRecord,
  AdminOperationsStatusRecord,
  AdminPaymentListRecord,
  AdminWebhookDeliveryListRecord,
  failedJobQuery,
  platformDeliveryQuery,
  presentFailedJobs,
  presentPlatformDeliveries,
  presentPlatformPayments,
} from "./oversight-records.ts";
import { listOwnedDeliveries, listOwnedPayments } from "./oversight.ts";
import { listFailedJobs } from "./queues.ts";
import {
  AdminOrganizationDetailRecord,
  AdminOrganizationListRecord,
  organizationQuery,
  presentOrganizationDetail,
  presentOrganizations,
  UpdateOrganizationVerificationRequest,
} from "./records.ts";
import { backupMetrics, checkMetrics, workMetrics } from "./status/metrics.ts";
import { readOperationsStatus } from "./status/operations-status.ts";
import { presentOperationsStatus } from "./status/stored-status.ts";

const access = platform("platform:read");

const adminOperations = [
  operation({
    id: "adminListOrganizations",
    group: "Admin",
    method: "GET",
    path: "/admin/organizations",
    summary: "List organizations",
    description:
      "`search` matches part of a name or of the contact's e-mail address, ignoring case, or a complete id.",
    access,
    request: { query: organizationQuery },
    response: { status: 200, record: AdminOrganizationListRecord },
    errors: [],
    handle: (app, call) => listAllOrganizations(app, call.query),
    present: presentOrganizations,
  }),
  operation({
    id: "adminGetOrganization",
    group: "Admin",
    method: "GET",
    path: "/admin/organizations/{organizationId}",
    summary: "Get an organization with its members, wallets and reviews",
    access,
    response: { status: 200, record: AdminOrganizationDetailRecord },
    errors: [],
    handle: (app, call) => getOrganizationDetail(app, call.params.organizationId),
    present: presentOrganizationDetail,
  }),
  operation({
    id: "adminUpdateOrganizationVerification",
    group: "Admin",
    method: "POST",
    path: "/admin/organizations/{organizationId}/verification",
    summary: "Approve, reject or request changes of an organization's verification",
    description:
      "An approval also shows the pending display name and the pending logo to payers. While an approved organization has one of them, `approve` and `reject` decide on them, and the organization stays approved. With `If-Match` and the ETag of the organization as read, the decision applies only to that version; if it was changed or decided in the meantime, the response is 412.",
    access: platform("platform:write"),
    request: { body: UpdateOrganizationVerificationRequest },
    response: { status: 200, record: AdminOrganizationDetailRecord },
    errors: [VerificationConflict],
    conditional: true,
    handle: (app, call) =>
      reviewOrganization(app, call.context, call.params.organizationId, call.body, call.expect),
    present: presentOrganizationDetail,
  }),
  operation({
    id: "adminListPayments",
    group: "Admin",
    method: "GET",
    path: "/admin/payments",
    summary: "List the payments of all organizations",
    access,
    request: { query: platformPaymentQuery },
    response: { status: 200, record: AdminPaymentListRecord },
    errors: [],
    handle: (app, call) => listOwnedPayments(app, readPaymentQuery(call.query)),
    present: presentPlatformPayments,
  }),
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
    request: { query: failedJobQuery },
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
  operation({
    id: "adminListAuditLogs",
    group: "Admin",
    method: "GET",
    path: "/admin/audit-logs",
    summary: "List audit log entries of all organizations",
    description:
      "Entries that concern only a user, such as logins, have no organization. `createdFrom` is inclusive, `createdTo` exclusive.",
    access,
    request: { query: adminAuditLogQuery },
    response: { status: 200, record: AuditLogListRecord },
    errors: [],
    handle: (app, call) => listAllAuditLogs(app, withTimes(call.query)),
    present: presentAuditLogs,
    cli: {
      name: "audit list",
      summary: "List audit log entries of one or all organizations, newest first",
      flags: {
        action: { placeholder: "name" },
        actorId: { placeholder: "id", takes: ["user", "apiKey"] },
        from: { description: "deprecated, use --created-from" },
        to: { description: "deprecated, use --created-to" },
      },
      examples: [
        "till audit list",
        "till audit list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --action invoice.created --json",
      ],
      columns: ["createdAt", "action", "actorLabel", "targetId", "organizationId", "id"],
    },
  }),
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
