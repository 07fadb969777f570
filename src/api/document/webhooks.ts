import { eventCatalogue, eventTypes, type EventType } from "../../platform/events/catalogue.ts";
import { eventApiVersion } from "../../platform/events/index.ts";
import { recordOf } from "../../platform/events/reference.ts";
import { exampleOf } from "./examples.ts";

type Json = Record<string, unknown>;

const schema = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** Returns the requests that Till sends to webhook endpoints, by event type; `examples` has a body for each type. */
export function webhooksSection(examples: Readonly<Record<string, unknown>>): Json {
  const meanings = new Map(Object.values(eventCatalogue).flatMap((group) => Object.entries(group)));
  return Object.fromEntries(
    eventTypes.map((type) => [
      type,
      { post: webhookOf(type, meanings.get(type) ?? "", examples[type]) },
    ]),
  );
}

function webhookOf(type: EventType, meaning: string, example: unknown): Json {
  const body = {
    allOf: [
      schema("WebhookMessage"),
      {
        type: "object",
        properties: {
          type: { const: type },
          data: { allOf: [schema(recordOf(type)), schema("WebhookObject")] },
        },
        required: ["type", "data"],
      },
    ],
  };
  return {
    operationId: `webhook.${type}`,
    tags: ["Webhooks"],
    summary: type,
    description: meaning,
    security: [],
    requestBody: {
      required: true,
      content: {
        "application/json": { schema: body, ...exampleOf(example) },
      },
    },
    responses: {
      "2XX": { description: "The delivery succeeded. Any other answer is retried." },
    },
  };
}

/** The schemas that all webhooks have in common, by name. */
export const webhookSchemas: Readonly<Record<string, Json>> = {
  WebhookMessage: {
    type: "object",
    properties: {
      id: {
        type: "string",
        description:
          "The event's id, the same for every attempt and replay: the header `webhook-id`.",
      },
      type: { type: "string", enum: eventTypes, description: "The event type." },
      timestamp: {
        type: "string",
        format: "date-time",
        description: "Time of the event: ISO 8601, UTC.",
      },
      data: { type: "object", description: "The object at the time of the event." },
      apiVersion: {
        type: "string",
        enum: [eventApiVersion],
        description: "The version of the body's format, fixed when the endpoint is created.",
      },
      organizationId: { type: "string", description: "The organization's id." },
      sequence: {
        type: "integer",
        description: "Number of the event among those of the endpoint, without gaps.",
      },
    },
    required: ["id", "type", "timestamp", "data", "apiVersion", "organizationId", "sequence"],
  },
  WebhookObject: {
    type: "object",
    properties: {
      objectVersion: {
        type: "integer",
        description:
          "Increased by each change of the object. Ignore an event with a lower one than you have.",
      },
      previousStatus: {
        type: "string",
        description:
          "The status before the event; absent for a new object, and for one without a status.",
      },
    },
    required: ["objectVersion"],
  },
};
