import * as z from "zod";
import { organization } from "../../api/declare/access.ts";
import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { pageParameters } from "../../api/declare/list.ts";
import { operation } from "../../api/declare/operation.ts";
import { id } from "../../api/declare/record.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import { webhookChecks } from "./checks.ts";
import {
  DeliveryInFlight,
  EndpointDisabled,
  getWebhookDelivery,
  listWebhookDeliveries,
  replayWebhookDelivery,
  testWebhookEndpoint,
} from "./deliveries.ts";
import { delivererOf } from "./delivery/deliverer.ts";
import {
  forgetSuperseded,
  mendDueTimes,
  pruneDeliveries,
  wipeOldSecrets,
} from "./delivery/retention.ts";
import {
  presentCreatedEndpoint,
  presentDelivery,
  presentDeliveryDetail,
  presentEndpoint,
  presentRotatedEndpoint,
  CreatedWebhookEndpointRecord,
  CreateWebhookEndpointRequest,
  endpointQuery,
  RotatedWebhookEndpointRecord,
  RotateWebhookSecretRequest,
  UpdateWebhookEndpointRequest,
  WebhookDeliveryDetailRecord,
  WebhookDeliveryListRecord,
  WebhookDeliveryRecord,
  WebhookEndpointListRecord,
  WebhookEndpointRecord,
} from "./records.ts";
import type { DeliveryView } from "./delivery/store.ts";
import {
  createWebhookEndpoint,
  disableWebhookEndpoint,
  getWebhookEndpoint,
  listWebhookEndpoints,
  rotateWebhookSecret,
  updateWebhookEndpoint,
  WebhookEndpointLimit,
  WebhookUrlRefused,
} from "./endpoints.ts";
import type { EndpointRow } from "./endpoints/store.ts";
import { deliveryStatuses } from "./status.ts";

export const webhookOperations = [
  operation({
    id: "listWebhookEndpoints",
    group: "Webhooks",
    method: "GET",
    path: "/organizations/{organizationId}/webhook-endpoints",
    summary: "List webhook endpoints",
    access: organization("webhooks:read"),
    request: { query: endpointQuery },
    response: { status: 200, record: WebhookEndpointListRecord },
    errors: [],
    handle: (app, call) => listWebhookEndpoints(app, call.organizationId, call.query),
    present: (page: Page<EndpointRow>) => mapPage(page, presentEndpoint),
  }),
  operation({
    id: "createWebhookEndpoint",
    group: "Webhooks",
    method: "POST",
    path: "/organizations/{organizationId}/webhook-endpoints",
    summary: "Create a webhook endpoint and return its secret once",
    description:
      "The endpoint receives events from now on. Deliveries follow Standard Webhooks 1.0.0, whose libraries verify them with the secret.",
    access: organization("webhooks:write"),
    request: { body: CreateWebhookEndpointRequest },
    response: { status: 201, record: CreatedWebhookEndpointRecord },
    errors: [WebhookUrlRefused, WebhookEndpointLimit],
    secretAnswer: true,
    handle: (app, call) => createWebhookEndpoint(app, call.context, call.organizationId, call.body),
    present: presentCreatedEndpoint,
  }),
  operation({
    id: "getWebhookEndpoint",
    group: "Webhooks",
    method: "GET",
    path: "/organizations/{organizationId}/webhook-endpoints/{webhookEndpointId}",
    summary: "Get a webhook endpoint",
    access: organization("webhooks:read"),
    response: { status: 200, record: WebhookEndpointRecord },
    errors: [],
    handle: (app, call) =>
      getWebhookEndpoint(app, call.organizationId, call.params.webhookEndpointId),
    present: presentEndpoint,
  }),
  operation({
    id: "updateWebhookEndpoint",
    group: "Webhooks",
    method: "PATCH",
    path: "/organizations/{organizationId}/webhook-endpoints/{webhookEndpointId}",
    summary: "Update, enable or disable a webhook endpoint",
    description:
      "`If-Match` compares what callers can change: a failure or a pause since the endpoint was read does not refuse the update.",
    access: organization("webhooks:write"),
    request: { body: UpdateWebhookEndpointRequest },
    response: { status: 200, record: WebhookEndpointRecord },
    errors: [WebhookUrlRefused, WebhookEndpointLimit],
    handle: (app, call) =>
      updateWebhookEndpoint(
        app,
        call.context,
        call.organizationId,
        call.params.webhookEndpointId,
        call.body,
        call.expect,
      ),
    present: presentEndpoint,
  }),
  operation({
    id: "disableWebhookEndpoint",
    group: "Webhooks",
    method: "POST",
    path: "/organizations/{organizationId}/webhook-endpoints/{webhookEndpointId}/disable",
    summary: "Disable a webhook endpoint",
    description:
      "Running deliveries are completed. Pending ones become dead letters, which can be replayed once the endpoint is enabled again.",
    access: organization("webhooks:write"),
    response: { status: 200, record: WebhookEndpointRecord },
    errors: [],
    handle: (app, call) =>
      disableWebhookEndpoint(app, call.context, call.organizationId, call.params.webhookEndpointId),
    present: presentEndpoint,
  }),
  operation({
    id: "rotateWebhookSecret",
    group: "Webhooks",
    method: "POST",
    path: "/organizations/{organizationId}/webhook-endpoints/{webhookEndpointId}/rotate-secret",
    summary: "Rotate the secret of a webhook endpoint and return the new one once",
    description:
      "During the overlap each delivery has signatures of both secrets, the new one's first, so that the receiver can be updated at any time. At most two secrets are valid: another rotation during an overlap ends the older one.",
    access: organization("webhooks:write"),
    request: { body: RotateWebhookSecretRequest },
    response: { status: 200, record: RotatedWebhookEndpointRecord },
    errors: [],
    secretAnswer: true,
    handle: (app, call) =>
      rotateWebhookSecret(
        app,
        call.context,
        call.organizationId,
        call.params.webhookEndpointId,
        call.body,
      ),
    present: presentRotatedEndpoint,
  }),
  operation({
    id: "testWebhookEndpoint",
    group: "Webhooks",
    method: "POST",
    path: "/organizations/{organizationId}/webhook-endpoints/{webhookEndpointId}/test",
    summary: "Send a test event to a webhook endpoint",
    description:
      "Sends a `webhook.ping` to this endpoint only, whatever its event types, with its next sequence number. The returned delivery shows the result.",
    access: organization("webhooks:write"),
    response: { status: 202, record: WebhookDeliveryRecord },
    errors: [EndpointDisabled],
    handle: (app, call) =>
      testWebhookEndpoint(app, call.context, call.organizationId, call.params.webhookEndpointId),
    present: presentDelivery,
  }),
  operation({
    id: "listWebhookDeliveries",
    group: "Webhooks",
    method: "GET",
    path: "/organizations/{organizationId}/webhook-deliveries",
    summary: "List webhook deliveries",
    access: organization("webhooks:read"),
    request: {
      query: {
        ...pageParameters,
        webhookEndpointId: id("webhookEndpoint").optional(),
        status: z.enum(deliveryStatuses).optional(),
        eventType: z
          .string()
          .max(100)
          .optional()
          .meta({ description: "Only deliveries of events of this type." }),
      },
    },
    response: { status: 200, record: WebhookDeliveryListRecord },
    errors: [],
    handle: (app, call) => listWebhookDeliveries(app, call.organizationId, call.query),
    present: (page: Page<DeliveryView>) => mapPage(page, presentDelivery),
  }),
  operation({
    id: "getWebhookDelivery",
    group: "Webhooks",
    method: "GET",
    path: "/organizations/{organizationId}/webhook-deliveries/{webhookDeliveryId}",
    summary: "Get a webhook delivery, with its payload and attempts",
    access: organization("webhooks:read"),
    response: { status: 200, record: WebhookDeliveryDetailRecord },
    errors: [],
    handle: (app, call) =>
      getWebhookDelivery(app, call.organizationId, call.params.webhookDeliveryId),
    present: presentDeliveryDetail,
  }),
  operation({
    id: "replayWebhookDelivery",
    group: "Webhooks",
    method: "POST",
    path: "/organizations/{organizationId}/webhook-deliveries/{webhookDeliveryId}/replay",
    summary: "Replay a delivery",
    description:
      "Creates a new delivery of the same event, with its own attempts and the same webhook-id, by which receivers recognize duplicates.",
    access: organization("webhooks:write"),
    response: { status: 202, record: WebhookDeliveryRecord },
    errors: [EndpointDisabled, DeliveryInFlight],
    handle: (app, call) =>
      replayWebhookDelivery(app, call.context, call.organizationId, call.params.webhookDeliveryId),
    present: presentDelivery,
  }),
];

export const webhooksModule: FeatureModule = {
  operations: webhookOperations,
  checks: webhookChecks,
  prunings: {
    "wipe old webhook secrets": wipeOldSecrets,
    "prune deliveries": pruneDeliveries,
    "forget superseded choices": forgetSuperseded,
    "mend due times of deliveries": mendDueTimes,
  },
  workers: (app) => [delivererOf(app)],
};
