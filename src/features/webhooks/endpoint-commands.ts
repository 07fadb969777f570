import type { App } from "../../app.ts";
import { eventTypes } from "../../platform/events/catalogue.ts";
import {
  commandsOf,
  neededOrganization,
  pageFlags,
  type CommandArgument,
  type CommandCall,
} from "../../api/declare/command.ts";
import { InvalidRequest } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { testWebhookEndpoint } from "./deliveries.ts";
import {
  createWebhookEndpoint,
  getWebhookEndpoint,
  listWebhookEndpoints,
  updateWebhookEndpoint,
} from "./endpoints.ts";
import {
  CreateWebhookEndpointRequest,
  EndpointQuery,
  UpdateWebhookEndpointRequest,
  presentCreatedEndpoint,
  presentDelivery,
  presentEndpoint,
} from "./records.ts";
import { endpointStatuses } from "./status.ts";

const command = commandsOf<App>();

const endpointArgument: CommandArgument = {
  name: "endpoint",
  description: "its id, such as wep_01h…",
  takes: ["webhookEndpoint"],
};

/** The word for an endpoint without event types, which receives all. */
const allTypes = "all";

const typesShown = (types: readonly string[]): string =>
  types.length === 0 ? allTypes : types.join(", ");

/** The commands of an organization's endpoints. */
export const endpointCommands = [
  command({
    name: "webhook endpoints",
    summary: "List the endpoints that receive an organization's events, newest first",
    flags: [
      neededOrganization,
      {
        flags: "--status <status>",
        description: "only those that are enabled or disabled",
        choices: endpointStatuses,
      },
      ...pageFlags,
    ],
    examples: [
      "till webhook endpoints --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till webhook endpoints --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --status enabled --json",
    ],
    effect: "read",
    handle(app, call) {
      return listWebhookEndpoints(
        app,
        ownerOf(call),
        call.parse(EndpointQuery, {
          limit: call.flag("limit"),
          cursor: call.flag("cursor"),
          status: call.flag("status"),
        }),
      );
    },
    present: ({ data, nextCursor }) => ({ data: data.map(presentEndpoint), nextCursor }),
    columns: [
      "id",
      "url",
      "status",
      { title: "Event types", value: (one) => typesShown(one.eventTypes) },
      "pausedSince",
      "pausedUntil",
      { title: "Failure", value: (one) => one.disabledReason ?? one.lastFailure },
      "description",
      "createdAt",
    ],
  }),
  command({
    name: "webhook add",
    summary: "Add an endpoint that receives events, and show its secret once",
    arguments: [{ name: "url", description: "of the receiver, such as https://shop.example/till" }],
    flags: [
      neededOrganization,
      {
        flags: "--event-types <list>",
        description: "such as invoice.paid,refund.requested (default: all)",
        choices: eventTypes,
        isList: true,
      },
      { flags: "--description <text>", description: "your note about the endpoint" },
    ],
    examples: [
      "till webhook add https://shop.example/till --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till webhook add https://shop.example/till --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --event-types invoice.paid --json",
    ],
    effect: "write-without-trial",
    async handle(app, call) {
      const created = await createWebhookEndpoint(
        app,
        call.context,
        ownerOf(call),
        call.parse(CreateWebhookEndpointRequest, {
          url: call.argument("url"),
          description: call.flag("description"),
          eventTypes: typesOf(call),
        }),
      );
      const { data } = await listWebhookEndpoints(app, ownerOf(call), { status: "enabled" });
      const { id, url } = created.endpoint;
      return { created, twin: data.find((one) => one.url === url && one.id !== id) ?? null };
    },
    present: ({ created }) => presentCreatedEndpoint(created),
    warning: ({ twin }) =>
      twin === null
        ? null
        : `${twin.id} is enabled with the same URL, so its receiver gets these events twice. To stop that one: till webhook update ${twin.id} --status disabled`,
    columns: [
      "id",
      "url",
      "status",
      { title: "Event types", value: (one) => typesShown(one.eventTypes) },
      "secret",
    ],
    next: (one) =>
      `store the secret now, it is not shown again; then till webhook trigger ${one.id}`,
  }),
  command({
    name: "webhook update",
    summary: "Change an endpoint's URL, event types or description, or disable it",
    arguments: [endpointArgument],
    flags: [
      neededOrganization,
      { flags: "--url <url>", description: "the receiver, such as https://shop.example/till" },
      {
        flags: "--event-types <list>",
        description: "such as invoice.paid,refund.requested, or all",
        choices: [allTypes, ...eventTypes],
        isList: true,
      },
      { flags: "--description <text>", description: "your note about the endpoint" },
      {
        flags: "--status <status>",
        description: "enabled or disabled; enabled also tries a paused endpoint at once",
        choices: endpointStatuses,
      },
    ],
    examples: [
      "till webhook update wep_01kq3v5m8w2f6n9r4t7x0z1c3e --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --event-types invoice.paid,refund.requested",
      "till webhook update wep_01kq3v5m8w2f6n9r4t7x0z1c3e --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --status enabled --json",
    ],
    effect: "write",
    async look(app, call) {
      const endpoint = await getWebhookEndpoint(app, ownerOf(call), endpointOf(call));
      return {
        subject: `${endpoint.url} (${endpoint.id}), ${endpoint.status}`,
        before: presentEndpoint(endpoint),
      };
    },
    async handle(app, call) {
      const changes = {
        url: call.flag("url"),
        eventTypes: typesOf(call),
        description: call.flag("description"),
        status: call.flag("status"),
      };
      if (Object.values(changes).every((value) => value === undefined)) {
        throw new InvalidRequest("Give --url, --event-types, --description or --status.");
      }
      return updateWebhookEndpoint(
        app,
        call.context,
        ownerOf(call),
        endpointOf(call),
        call.parse(UpdateWebhookEndpointRequest, changes),
        () => undefined,
      );
    },
    present: presentEndpoint,
    columns: [
      "id",
      "url",
      "status",
      { title: "Event types", value: (one) => typesShown(one.eventTypes) },
      "description",
    ],
  }),
  command({
    name: "webhook trigger",
    summary: "Send a test event, webhook.ping, to an endpoint",
    arguments: [endpointArgument],
    flags: [neededOrganization],
    examples: [
      "till webhook trigger wep_01kq3v5m8w2f6n9r4t7x0z1c3e --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till webhook trigger wep_01kq3v5m8w2f6n9r4t7x0z1c3e --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
    ],
    effect: "write",
    async look(app, call) {
      const { id, url, status } = await getWebhookEndpoint(app, ownerOf(call), endpointOf(call));
      return { subject: `${url} (${id}), ${status}` };
    },
    handle: (app, call) => testWebhookEndpoint(app, call.context, ownerOf(call), endpointOf(call)),
    present: presentDelivery,
    columns: [
      "id",
      { title: "Event", value: (one) => `${one.eventType} (${one.eventId})` },
      "webhookEndpointId",
      "status",
    ],
    next: (one) =>
      `till webhook show ${one.id} shows the response, if a server is running; a paused endpoint is tried at once`,
  }),
];

/** Returns the types of --event-types; none for all. */
function typesOf(call: CommandCall): string[] | undefined {
  const types = call
    .flag("event-types")
    ?.split(",")
    .map((type) => type.trim());
  return types?.join() === allTypes ? [] : types;
}

function endpointOf(call: CommandCall): Id<"webhookEndpoint"> {
  return call.argument("endpoint") as Id<"webhookEndpoint">;
}

/** Returns the organization of a call that requires --organization. */
export function ownerOf(call: CommandCall): Id<"organization"> {
  return call.flag("organization") as Id<"organization">;
}
