import type { App } from "../../app.ts";
import { organization } from "../../http/declare/permissions.ts";
import { section, type CommandCall, type OwnFlag } from "../../http/declare/command.ts";
import type { FeatureModule } from "../../http/declare/feature-module.ts";
import { operation } from "../../http/declare/operation.ts";
import type { Id } from "../../kernel/id.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import { eventTypes } from "../../platform/events/catalogue.ts";
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
  eventColumn,
  presentCreatedEndpoint,
  presentDelivery,
  presentDeliveryDetail,
  presentEndpoint,
  presentRotatedEndpoint,
  CreatedWebhookEndpointRecord,
  CreateWebhookEndpointRequest,
  deliveryQuery,
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

/** The word for an endpoint without event types, which receives all. */
const allTypes = "all";

/** The flag of event types; `all` stands for none. */
const eventTypesFlag: OwnFlag = {
  isList: true,
  placeholder: "list",
  read(text) {
    const types = text.split(",").map((type) => type.trim());
    return types.join() === allTypes ? [] : types;
  },
};

/** The columns of endpoints in a terminal. */
const columns = [
  "id",
  "url",
  "status",
  {
    title: "Event types",
    value: ({ eventTypes: types }: { readonly eventTypes: readonly string[] }) =>
      types.length === 0 ? allTypes : types.join(", "),
  },
] as const;

async function look(app: App, call: CommandCall) {
  const endpoint = await getWebhookEndpoint(
    app,
    call.flag("organization") as Id<"organization">,
    call.argument("webhookEndpointId") as Id<"webhookEndpoint">,
  );
  return {
    subject: `${endpoint.url} (${endpoint.id}), ${endpoint.status}`,
    before: presentEndpoint(endpoint),
  };
}

const webhookOperations = [
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
    cli: {
      name: "webhook endpoints",
      summary: "List the endpoints that receive an organization's events, newest first",
      examples: [
        "till webhook endpoints --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
        "till webhook endpoints --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --status enabled --json",
      ],
      columns: [
        ...columns,
        "pausedSince",
        "pausedUntil",
        { title: "Failure", value: (one) => one.disabledReason ?? one.lastFailure },
        "description",
        "createdAt",
      ],
    },
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
    secretResponse: true,
    handle: (app, call) => createWebhookEndpoint(app, call.context, call.organizationId, call.body),
    present: presentCreatedEndpoint,
    cli: {
      name: "webhook add",
      summary: "Add an endpoint that receives events, and show its secret once",
      flags: {
        url: {
          isArgument: true,
          description: "of the receiver, such as https://shop.example/till",
        },
        eventTypes: {
          ...eventTypesFlag,
          description: "such as invoice.paid,refund.requested (default: all)",
          choices: eventTypes,
        },
      },
      examples: [
        "till webhook add https://shop.example/till --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
        "till webhook add https://shop.example/till --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --event-types invoice.paid --json",
      ],
      columns: [...columns, "secret"],
      async warning({ endpoint: { id, url, organizationId } }, app) {
        const { data } = await listWebhookEndpoints(app, organizationId, { status: "enabled" });
        const twin = data.find((one) => one.url === url && one.id !== id);
        return twin === undefined
          ? null
          : `${twin.id} is enabled with the same URL, so its receiver gets these events twice. To stop that one: till webhook update ${twin.id} --status disabled`;
      },
      next: (one) =>
        `store the secret now, it is not shown again; then till webhook trigger ${one.id}`,
    },
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
    cli: {
      name: "webhook update",
      summary: "Change an endpoint's URL, event types or description, or disable it",
      flags: {
        url: { description: "the receiver, such as https://shop.example/till" },
        description: { description: "your note about the endpoint" },
        eventTypes: {
          ...eventTypesFlag,
          description: "such as invoice.paid,refund.requested, or all",
          choices: [allTypes, ...eventTypes],
        },
        status: {
          description: "enabled or disabled; enabled also tries a paused endpoint at once",
        },
      },
      examples: [
        "till webhook update wep_01kq3v5m8w2f6n9r4t7x0z1c3e --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --event-types invoice.paid,refund.requested",
        "till webhook update wep_01kq3v5m8w2f6n9r4t7x0z1c3e --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --status enabled --json",
      ],
      look,
      columns: [...columns, "description"],
    },
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
    secretResponse: true,
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
    cli: {
      name: "webhook trigger",
      summary: "Send a test event, webhook.ping, to an endpoint",
      examples: [
        "till webhook trigger wep_01kq3v5m8w2f6n9r4t7x0z1c3e --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
        "till webhook trigger wep_01kq3v5m8w2f6n9r4t7x0z1c3e --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
      ],
      look: async (app, call) => ({ subject: (await look(app, call)).subject }),
      columns: ["id", eventColumn, "webhookEndpointId", "status"],
      next: (one) =>
        `till webhook show ${one.id} shows the response, if a server is running; a paused endpoint is tried at once`,
    },
  }),
  operation({
    id: "listWebhookDeliveries",
    group: "Webhooks",
    method: "GET",
    path: "/organizations/{organizationId}/webhook-deliveries",
    summary: "List webhook deliveries",
    access: organization("webhooks:read"),
    request: { query: deliveryQuery },
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
    cli: {
      name: "webhook show",
      summary: "Show a delivery of any organization with its payload and attempts",
      organization: "found",
      examples: [
        "till webhook show whd_01kq3v5m8w2f6n9r4t7x0z1c3e",
        "till webhook show whd_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
      ],
      columns: [
        "id",
        eventColumn,
        "webhookEndpointId",
        "status",
        "attempts",
        "nextAttemptAt",
        "responseStatus",
        "lastError",
        "replayOf",
        "createdAt",
        "completedAt",
        { title: "Payload", value: (one) => JSON.stringify(one.payload) },
      ],
      sections: (one) => [
        section({
          title: "Attempts",
          items: one.attemptHistory,
          columns: [
            ["number", "Attempt"],
            "startedAt",
            "durationMs",
            {
              title: "Response",
              value: (attempt) => attempt.responseStatus ?? attempt.errorKind ?? null,
            },
          ],
        }),
      ],
      next: (one) => `till webhook attempts ${one.id} shows the receiver's responses`,
    },
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
