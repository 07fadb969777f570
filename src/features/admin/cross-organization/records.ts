import { z } from "zod";
import { pageParameters } from "../../../api/declare/list.ts";
import { datetime, id, listRecord, record, responseRecord } from "../../../api/declare/record.ts";
import { PaymentRecord, platformPaymentQuery } from "../../payments/index.ts";
import { deliveryStatuses, WebhookDeliveryRecord } from "../../webhooks/index.ts";
import { healths } from "../status/health.ts";

const owner = { organizationId: id("organization"), organizationName: z.string() };

export const AdminPaymentListRecord = listRecord(
  "AdminPaymentList",
  record("AdminPayment", PaymentRecord.extend(owner)),
);

export const AdminWebhookDeliveryListRecord = listRecord(
  "AdminWebhookDeliveryList",
  record("AdminWebhookDelivery", WebhookDeliveryRecord.extend({ ...owner, url: z.string() })),
);

export const AdminFailedQueueJobListRecord = listRecord(
  "AdminFailedQueueJobList",
  responseRecord("AdminFailedQueueJob", {
    id: z
      .string()
      .meta({ description: "For a dead letter, the id of the delivery, which can be replayed." }),
    queue: z.string(),
    name: z.string(),
    attempts: z.int(),
    failedReason: z.string(),
    organizationId: id("organization").nullable(),
    createdAt: datetime(),
    failedAt: datetime(),
  }),
);

const status = () => z.enum(healths);
const count = () => z.int().min(0);

export const AdminOperationsStatusRecord = responseRecord("AdminOperationsStatus", {
  checkedAt: datetime(),
  infrastructure: responseRecord("OperationsInfrastructure", {
    status: status().meta({ description: "The worst status among the checks." }),
    checks: z
      .record(z.string(), status())
      .meta({ description: "The status of each check by name." }),
    messages: z.record(z.string(), z.string()).meta({
      description: "A sentence for the operator about each check, by name.",
    }),
  }),
  providers: z.array(
    responseRecord("OperationsProviderHealth", {
      provider: z.string(),
      network: z.string(),
      status: status().meta({ description: "`unknown` if no server is reading the network." }),
      message: z.string(),
    }),
  ),
  queues: z.array(
    responseRecord("OperationsQueueDepth", {
      queue: z.string(),
      waiting: count(),
      active: count(),
      delayed: count(),
      failed: count(),
    }),
  ),
  webhooks: responseRecord("OperationsWebhookBacklog", {
    failed: count().meta({ description: "Failed deliveries that will be retried." }),
    deadLetter: count(),
    pending: count(),
    inProgress: count(),
  }),
  auditHead: z.string().nullable().meta({
    description:
      "The head of the audit chain in the store, as `position:hash`. Keep it elsewhere for `till audit verify --head`.",
  }),
});

export const failedJobQuery = pageParameters;
export const PlatformPaymentQuery = z.strictObject(platformPaymentQuery);
/** Delivery filters of the command line. Filters of a single organization's list require the organization. */
export const DeliveryCommandQuery = z
  .strictObject({
    ...pageParameters,
    organizationId: id("organization").optional(),
    status: z.enum(deliveryStatuses).optional(),
    webhookEndpointId: id("webhookEndpoint").optional(),
    eventType: z.string().optional(),
  })
  .refine(
    ({ organizationId, webhookEndpointId, eventType }) =>
      organizationId !== undefined || (webhookEndpointId ?? eventType) === undefined,
    { path: ["organizationId"], error: "is required with an endpoint or event type" },
  );
export const platformDeliveryQuery = {
  ...pageParameters,
  organizationId: id("organization").optional(),
  status: z.enum(deliveryStatuses).optional(),
};
