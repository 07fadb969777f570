import * as z from "zod";
import {
  datetime,
  describeFields,
  id,
  listRecord,
  observes,
  paragraph,
  presentRow,
  record,
  requestRecord,
  responseRecord,
} from "../../http/declare/record.ts";
import { pageParameters } from "../../http/declare/list.ts";
import { hour, second, toIsoOrNull, type Instant } from "../../kernel/clock.ts";
import { failureKinds } from "../../platform/outbound/failure.ts";
import { suggestion } from "../../platform/config/files/did-you-mean.ts";
import { eventTypes } from "../../platform/events/catalogue.ts";
import { shownAttemptsMax } from "./delivery/retry-policy.ts";
import type { RowOf } from "../../platform/database/schema/table.ts";
import type { DeliveryDetail, DeliveryView } from "./delivery/store.ts";
import { pausedUntil } from "./endpoints/failure-policy.ts";
import type { EndpointRow } from "./endpoints/store.ts";
import { deliveryStatuses, endpointStatuses } from "./status.ts";
import type { webhookAttempts } from "./table.ts";

const descriptionLengthMax = 500;
const urlLengthMax = 2_048;

export const WebhookEndpointRecord = responseRecord("WebhookEndpoint", {
  id: id("webhookEndpoint"),
  url: z.string(),
  description: z.string().nullable(),
  eventTypes: z
    .array(z.string())
    .meta({ description: "The event types that it receives; empty for all." }),
  status: z.enum(endpointStatuses),
  disabledReason: z.string().nullable(),
  failingSince: datetime().nullable(),
  lastFailure: z.string().nullable(),
  pausedSince: datetime().nullable(),
  pausedUntil: datetime().nullable(),
  createdAt: datetime(),
  updatedAt: datetime(),
});
describeFields(WebhookEndpointRecord, {
  url: "The URL that receives the deliveries.",
  description: "The merchant's note about the endpoint; null without one.",
  status: "A `disabled` endpoint gets no deliveries.",
  disabledReason: "Why it was disabled, as a sentence; null while enabled.",
  failingSince:
    "Time of the first failed attempt since the last success: ISO 8601, UTC; null if none has failed since.",
  lastFailure:
    "Why the last attempt failed, as a sentence; null if none has failed since the last success.",
  pausedSince:
    "Since when its deliveries wait, because most attempts failed: ISO 8601, UTC; null if they do not.",
  pausedUntil:
    "Time of the next attempt: ISO 8601, UTC; null if not paused. If it succeeds, all waiting deliveries follow at once; if not, the pause goes on. A test event, or the status `enabled` in an update, makes the attempt at once.",
});

observes(WebhookEndpointRecord, "failingSince", "lastFailure", "pausedSince", "pausedUntil");

export function presentEndpoint(row: EndpointRow): z.input<typeof WebhookEndpointRecord> {
  return presentRow(WebhookEndpointRecord, row, { pausedUntil: toIsoOrNull(pausedUntil(row)) });
}

export const endpointQuery = {
  ...pageParameters,
  status: z.enum(endpointStatuses).optional(),
};

export const CreatedWebhookEndpointRecord = record(
  "CreatedWebhookEndpoint",
  WebhookEndpointRecord.extend({
    secret: z.string().meta({
      description: "The signing secret, in the format of Standard Webhooks. Shown only once.",
    }),
  }),
);

export function presentCreatedEndpoint(created: {
  readonly endpoint: EndpointRow;
  readonly secret: string;
}): z.input<typeof CreatedWebhookEndpointRecord> {
  return { ...presentEndpoint(created.endpoint), secret: created.secret };
}

export const RotatedWebhookEndpointRecord = record(
  "RotatedWebhookEndpoint",
  CreatedWebhookEndpointRecord.extend({
    previousSecretExpiresAt: datetime().nullable().meta({
      description: "Until then, deliveries are also signed with the old secret; null if not.",
    }),
  }),
);

export function presentRotatedEndpoint(rotated: {
  readonly endpoint: EndpointRow;
  readonly secret: string;
  readonly previousSecretExpiresAt: Instant | null;
}): z.input<typeof RotatedWebhookEndpointRecord> {
  return {
    ...presentCreatedEndpoint(rotated),
    previousSecretExpiresAt: toIsoOrNull(rotated.previousSecretExpiresAt),
  };
}

export const WebhookEndpointListRecord = listRecord("WebhookEndpointList", WebhookEndpointRecord);

const url = () =>
  z
    .string()
    .max(urlLengthMax, { error: `must have at most ${String(urlLengthMax)} characters` })
    .meta({
      description:
        "URL of the receiver: https, or http to an address that the operator allows (`TILL_WEBHOOK_ALLOW_CIDRS`), which in the demo is 127.0.0.1.",
    });

function unknownType(given: unknown): string {
  if (typeof given !== "string") return "must be an event type";
  const hint = given.includes("*")
    ? "; there are no patterns: name each type, or leave them out for all"
    : suggestion(given, eventTypes);
  return `must be an event type, which ${JSON.stringify(given.slice(0, shownLengthMax))} is not${hint}`;
}

/** Maximum number of characters of an unknown event type that the error repeats. */
const shownLengthMax = 60;

const chosenEventTypes = () =>
  z
    .array(z.enum(eventTypes, { error: ({ input }) => unknownType(input) }))
    .max(eventTypes.length, { error: "must not repeat a type" })
    .refine((value) => new Set(value).size === value.length, { error: "must not repeat a type" });

export const CreateWebhookEndpointRequest = requestRecord("CreateWebhookEndpointRequest", {
  url: url(),
  description: paragraph(descriptionLengthMax).nullish(),
  eventTypes: chosenEventTypes().optional(),
});
describeFields(CreateWebhookEndpointRequest, {
  description: "Your note about the endpoint.",
  eventTypes: "The event types that it receives; empty or absent for all.",
});

export type CreateWebhookEndpointInput = z.output<typeof CreateWebhookEndpointRequest>;

export const UpdateWebhookEndpointRequest = requestRecord("UpdateWebhookEndpointRequest", {
  url: url().optional(),
  description: paragraph(descriptionLengthMax).nullish(),
  eventTypes: chosenEventTypes().optional(),
  status: z.enum(endpointStatuses).optional(),
});
describeFields(UpdateWebhookEndpointRequest, {
  description: "Your note about the endpoint; null removes it.",
  eventTypes: "The event types that it receives; empty for all.",
  status: "Enables or disables the endpoint.",
});

export type UpdateWebhookEndpointInput = z.output<typeof UpdateWebhookEndpointRequest>;

/** Default duration of the overlap, in which both secrets sign. */
export const overlapDefault = 24 * hour;
/** Maximum duration of the overlap. */
const overlapMax = 168 * hour;

export const RotateWebhookSecretRequest = requestRecord("RotateWebhookSecretRequest", {
  overlapSeconds: z
    .int()
    .min(0)
    .max(overlapMax / second)
    .optional()
    .meta({
      description: `How long deliveries are also signed with the old secret, in seconds; 0 ends it immediately. Default: ${String(overlapDefault / second)}.`,
    }),
});

export type RotateWebhookSecretInput = z.output<typeof RotateWebhookSecretRequest>;

export const WebhookDeliveryRecord = responseRecord("WebhookDelivery", {
  id: id("webhookDelivery"),
  webhookEndpointId: id("webhookEndpoint"),
  eventId: id("event"),
  eventType: z.string(),
  status: z.enum(deliveryStatuses).meta({
    description:
      "`failed` deliveries are retried at nextAttemptAt; `dead_letter` ones only by a replay.",
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
describeFields(WebhookDeliveryRecord, {
  eventType: "The type of the event, such as `invoice.paid`.",
  attempts: "Number of completed attempts, also those made ahead of the schedule.",
  nextAttemptAt:
    "Time of the next attempt, not before the end of its endpoint's pause: ISO 8601, UTC; null once no attempt is planned, and during one. It is made earlier if the endpoint responds again before.",
  lastAttemptAt: "Time when the last attempt started: ISO 8601, UTC; null before the first one.",
  responseStatus: "The HTTP status of the last attempt's response; null without a response.",
  lastError: "Why the last attempt failed; null if none has, or once it succeeded.",
  replayOf: "The id of the delivery that it repeats; null for the original.",
  completedAt: "Time when it succeeded or was given up: ISO 8601, UTC; null until then.",
});

/** The column of a delivery's event in a terminal. */
export const eventColumn = {
  title: "Event",
  value: (one: { readonly eventType: string; readonly eventId: string }) =>
    `${one.eventType} (${one.eventId})`,
};

/** Filters of an organization's deliveries. */
export const deliveryQuery = {
  ...pageParameters,
  webhookEndpointId: id("webhookEndpoint").optional(),
  status: z.enum(deliveryStatuses).optional(),
  eventType: z
    .string()
    .max(100)
    .optional()
    .meta({ description: "Only deliveries of events of this type." }),
};

export function presentDelivery(row: DeliveryView): z.input<typeof WebhookDeliveryRecord> {
  const isWaiting = row.status === "pending" || row.status === "failed";
  return presentRow(WebhookDeliveryRecord, row, {
    webhookEndpointId: row.endpointId,
    nextAttemptAt: toIsoOrNull(
      isWaiting && row.dueAt !== null ? Math.max(row.dueAt, row.pausedUntil ?? 0) : null,
    ),
  });
}

const WebhookAttemptRecord = responseRecord("WebhookAttempt", {
  number: z.int().min(1).meta({ description: "Number of the attempt, starting at 1." }),
  startedAt: datetime(),
  durationMs: z.int().min(0),
  responseStatus: z.int().nullable().meta({ description: "Null if there was no response." }),
  errorKind: z.enum(failureKinds).nullable().meta({
    description: "Why there was no response; null if there was one.",
  }),
  oddity: z.string().nullable().meta({
    description:
      "The fault in the HTTP of a response whose status was received and counts; null without a fault.",
  }),
});
describeFields(WebhookAttemptRecord, {
  startedAt: "Time when the attempt started: ISO 8601, UTC.",
  durationMs: "Duration of the attempt, in milliseconds.",
});

/**
 * Presents an attempt for the merchant, without the response body, which may be a page of a server that the merchant
 * cannot reach otherwise.
 */
function presentOwnAttempt(
  row: RowOf<typeof webhookAttempts>,
): z.input<typeof WebhookAttemptRecord> {
  return presentRow(WebhookAttemptRecord, row);
}

/** Presents an attempt for the operator, with the beginning of the response body. */
export function presentAttempt(row: RowOf<typeof webhookAttempts>) {
  return { ...presentOwnAttempt(row), bodyExcerpt: row.bodyExcerpt };
}

export const WebhookDeliveryDetailRecord = record(
  "WebhookDeliveryDetail",
  WebhookDeliveryRecord.extend({
    payload: z.record(z.string(), z.unknown()).meta({
      description: "The JSON body, identical in every attempt.",
    }),
    attemptHistory: z.array(WebhookAttemptRecord).meta({
      description: `The completed attempts, first one first; of more than ${String(shownAttemptsMax)}, the newest.`,
    }),
  }),
);

export function presentDeliveryDetail({
  delivery,
  attempts,
}: DeliveryDetail): z.input<typeof WebhookDeliveryDetailRecord> {
  return {
    ...presentDelivery(delivery),
    payload: JSON.parse(delivery.body) as Record<string, unknown>,
    attemptHistory: attempts.map(presentOwnAttempt),
  };
}

export const WebhookDeliveryListRecord = listRecord("WebhookDeliveryList", WebhookDeliveryRecord);
