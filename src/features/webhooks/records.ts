import { z } from "zod";
import {
  datetime,
  id,
  listRecord,
  paragraph,
  record,
  requestRecord,
  responseRecord,
} from "../../api/record.ts";
import { second } from "../../kernel/clock.ts";
import { failureKinds } from "../../platform/outbound/failure.ts";
import { eventTypes } from "../../platform/events/catalogue.ts";
import { overlapDefault, overlapMax } from "./rotation.ts";
import { deliveryStatuses, endpointStatuses } from "./status.ts";

const descriptionLengthMax = 500;
const urlLengthMax = 2_048;

export const WebhookEndpointRecord = responseRecord("WebhookEndpoint", {
  id: id("webhookEndpoint"),
  url: z.string(),
  description: z.string().nullable(),
  eventTypes: z.array(z.string()).meta({ description: "The types that it is sent; empty: all." }),
  status: z.enum(endpointStatuses),
  disabledReason: z.string().nullable(),
  createdAt: datetime(),
  updatedAt: datetime(),
});

export const CreatedWebhookEndpointRecord = record(
  "CreatedWebhookEndpoint",
  WebhookEndpointRecord.extend({
    secret: z.string().meta({
      description: "What deliveries are signed with, in the form of Standard Webhooks. Shown once.",
    }),
  }),
);

export const RotatedWebhookEndpointRecord = record(
  "RotatedWebhookEndpoint",
  CreatedWebhookEndpointRecord.extend({
    previousSecretExpiresAt: datetime().nullable().meta({
      description: "Until then deliveries are signed with the old secret too; null: no longer.",
    }),
  }),
);

export const WebhookEndpointListRecord = listRecord("WebhookEndpointList", WebhookEndpointRecord);

const url = () =>
  z
    .string()
    .max(urlLengthMax, { error: `must have at most ${String(urlLengthMax)} characters` })
    .meta({ description: "Where deliveries are sent: https, unless this server allows more." });

const chosenEventTypes = () =>
  z
    .array(z.enum(eventTypes, { error: "must be a type of event that Till knows" }))
    .max(eventTypes.length, { error: "must not repeat a type" })
    .refine((value) => new Set(value).size === value.length, { error: "must not repeat a type" });

export const CreateWebhookEndpointRequest = requestRecord("CreateWebhookEndpointRequest", {
  url: url(),
  description: paragraph(descriptionLengthMax).nullish(),
  eventTypes: chosenEventTypes().optional(),
});

export const UpdateWebhookEndpointRequest = requestRecord("UpdateWebhookEndpointRequest", {
  url: url().optional(),
  description: paragraph(descriptionLengthMax).nullish(),
  eventTypes: chosenEventTypes().optional(),
  status: z.enum(endpointStatuses).optional(),
});

export const RotateWebhookSecretRequest = requestRecord("RotateWebhookSecretRequest", {
  overlapSeconds: z
    .int()
    .min(0)
    .max(overlapMax / second)
    .optional()
    .meta({
      description: `How long the old secret signs beside the new one; 0 ends it now. Without it: ${String(overlapDefault / second)}.`,
    }),
});

export const WebhookDeliveryRecord = responseRecord("WebhookDelivery", {
  id: id("webhookDelivery"),
  webhookEndpointId: id("webhookEndpoint"),
  eventId: id("event"),
  eventType: z.string(),
  status: z.enum(deliveryStatuses).meta({
    description: "`failed` is tried again at nextAttemptAt; `dead_letter` never moves by itself.",
  }),
  attempts: z.int(),
  nextAttemptAt: datetime().nullable(),
  lastAttemptAt: datetime().nullable(),
  responseStatus: z.int().nullable(),
  lastError: z.string().nullable(),
  replayOf: id("webhookDelivery").nullable(),
  createdAt: datetime(),
  completedAt: datetime().nullable(),
});

export const WebhookAttemptRecord = responseRecord("WebhookAttempt", {
  number: z.int().min(1).meta({ description: "Counts the attempts of the delivery, from 1." }),
  startedAt: datetime(),
  durationMs: z.int().min(0),
  responseStatus: z.int().nullable().meta({ description: "Null: no answer came." }),
  errorKind: z.enum(failureKinds).nullable().meta({
    description: "Why no answer came; null where one did.",
  }),
});

export const WebhookDeliveryDetailRecord = record(
  "WebhookDeliveryDetail",
  WebhookDeliveryRecord.extend({
    payload: z.record(z.string(), z.unknown()).meta({
      description: "The JSON that is sent, the same at every attempt.",
    }),
    attemptHistory: z.array(WebhookAttemptRecord).meta({
      description: "The attempts whose outcome is known, the first one first.",
    }),
  }),
);

export const WebhookDeliveryListRecord = listRecord("WebhookDeliveryList", WebhookDeliveryRecord);
