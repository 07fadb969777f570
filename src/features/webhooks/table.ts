import type { Id } from "../../kernel/id.ts";
import { integer, json, table, text, time } from "../../platform/database/schema/table.ts";
import type { FailureKind } from "../../platform/outbound/failure.ts";
import type { DeliveryStatus, EndpointStatus } from "./status.ts";

/** Webhook endpoints of organizations. */
export const webhookEndpoints = table(
  "webhook_endpoints",
  {
    id: text<Id<"webhookEndpoint">>(),
    organizationId: text<Id<"organization">>(),
    url: text(),
    description: text().nullable(),
    /** Empty for all. */
    eventTypes: json<readonly string[]>(),
    status: text<EndpointStatus>(),
    /** A sentence for the merchant; null while enabled. */
    disabledReason: text().nullable(),
    /** Encrypted with the key for webhook secrets, bound to this endpoint. */
    secret: text(),
    /** The secret before the last rotation, also encrypted; it signs alongside the new one until it expires. */
    previousSecret: text().nullable(),
    previousSecretUntil: time().nullable(),
    /** Time of the first failed attempt since the last success; null without one. */
    failingSince: time().nullable(),
    /** Number of failure notices sent to the organization's other endpoints. */
    failingNotices: integer(),
    /** Time when the first delivery since then was given up. */
    firstGivenUpAt: time().nullable(),
    /** Start of the pause; null unless the endpoint is paused. */
    pausedSince: time().nullable(),
    /** Time of the next lone attempt: while the endpoint is paused, the only one. Null if none is planned. */
    probeAt: time().nullable(),
    /** Why the last attempt failed, as a sentence for the merchant; null if none has since the last success. */
    lastFailure: text().nullable(),
    /** Version of the event bodies, fixed when the endpoint is created. */
    apiVersion: text(),
    /** Sequence number of the endpoint's last delivery, without gaps. */
    lastSequence: integer(),
    version: integer(),
    createdAt: time(),
    updatedAt: time(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      { name: "webhook_endpoints_organization", columns: ["organizationId", "id"] },
      {
        name: "webhook_endpoints_overlap",
        columns: ["previousSecretUntil"],
        where: "previous_secret_until IS NOT NULL",
      },
    ],
  },
);

/** Deliveries of one event to one endpoint each. */
export const webhookDeliveries = table(
  "webhook_deliveries",
  {
    id: text<Id<"webhookDelivery">>(),
    organizationId: text<Id<"organization">>(),
    endpointId: text<Id<"webhookEndpoint">>(),
    eventId: text<Id<"event">>(),
    eventType: text(),
    status: text<DeliveryStatus>(),
    /** Position of the event in its endpoint's sequence, without gaps. */
    sequence: integer(),
    /** Number of completed attempts. */
    attempts: integer(),
    /** Number of attempts made ahead of the schedule, which does not count them. */
    earlyAttempts: integer(),
    /** When a deliverer may claim it: the next attempt, or the end of the current lease; null if completed. */
    dueAt: time().nullable(),
    lastAttemptAt: time().nullable(),
    /** Token of the current claim; results with another token are discarded. */
    leaseToken: text().nullable(),
    responseStatus: integer().nullable(),
    lastError: text().nullable(),
    /** The delivery that this one replays; null for the original. */
    replayOf: text<Id<"webhookDelivery">>().nullable(),
    createdAt: time(),
    completedAt: time().nullable(),
    /**
     * The exact body that is signed and sent, rendered once. The last column, so that others can be read without it.
     */
    body: text(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      { name: "webhook_deliveries_organization", columns: ["organizationId", "id"] },
      { name: "webhook_deliveries_endpoint", columns: ["organizationId", "endpointId", "id"] },
      {
        name: "webhook_deliveries_endpoint_status",
        columns: ["organizationId", "endpointId", "status", "id"],
      },
      { name: "webhook_deliveries_status", columns: ["organizationId", "status", "id"] },
      { name: "webhook_deliveries_event_type", columns: ["organizationId", "eventType", "id"] },
      {
        name: "webhook_deliveries_unusual",
        columns: ["status", "id", "dueAt"],
        where: "status <> 'succeeded'",
      },
      {
        name: "webhook_deliveries_dead",
        columns: ["completedAt", "id"],
        where: "status = 'dead_letter'",
      },
      {
        name: "webhook_deliveries_due",
        columns: ["endpointId", "dueAt", "id"],
        where: "due_at IS NOT NULL",
      },
      {
        name: "webhook_deliveries_event",
        columns: ["eventId", "endpointId"],
        unique: true,
        where: "replay_of IS NULL",
      },
      {
        name: "webhook_deliveries_replays",
        columns: ["eventId", "endpointId"],
        where: "replay_of IS NOT NULL",
      },
    ],
  },
);

/** Results of all attempts. Only for the operator, because a response may contain anything. */
export const webhookAttempts = table(
  "webhook_attempts",
  {
    deliveryId: text<Id<"webhookDelivery">>(),
    /** Starts at 1. */
    number: integer(),
    startedAt: time(),
    durationMs: integer(),
    responseStatus: integer().nullable(),
    errorKind: text<FailureKind>().nullable(),
    /** The fault in the HTTP of the response, which counts all the same; null without a fault. */
    oddity: text().nullable(),
    bodyExcerpt: text().nullable(),
  },
  { primaryKey: ["deliveryId", "number"] },
);
