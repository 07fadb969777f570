import { platform } from "../../../api/declare/access.ts";
import { operationsOf } from "../../../api/declare/operation.ts";
import { presentOperationsStatus } from "../read-only.ts";
import type { StatusService } from "../status/operations-status.ts";
import { platformPaymentQuery, readPaymentQuery } from "../../payments/records.ts";
import type { OversightService } from "./queries.ts";
import {
  presentFailedJobs,
  presentPlatformDeliveries,
  presentPlatformPayments,
} from "./present.ts";
import {
  AdminFailedQueueJobListRecord,
  AdminOperationsStatusRecord,
  AdminPaymentListRecord,
  AdminWebhookDeliveryListRecord,
  failedJobQuery,
  platformDeliveryQuery,
} from "./records.ts";

const operation = operationsOf<OversightService>();
const access = platform("platform:read");

export const oversightOperations = [
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
    handle: (service, call) => service.listPayments(readPaymentQuery(call.query)),
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
    handle: (service, call) => service.listDeliveries(call.query),
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
    handle: (service, call) => service.listFailedJobs(call.params.queue, call.query),
    present: presentFailedJobs,
  }),
];

export const statusOperations = [
  operationsOf<StatusService>()({
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
    handle: (service, call) => service.status(call.context),
    present: presentOperationsStatus,
  }),
];
