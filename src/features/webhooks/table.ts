import type { Id } from "../../kernel/id.ts";
import { integer, json, table, text, time } from "../../platform/database/index.ts";
import type { FailureKind } from "../../platform/outbound/failure.ts";
import type { DeliveryStatus, EndpointStatus } from "./status.ts";

/** Where an organization wants its events sent. */
export const webhookEndpoints = table(
  "webhook_endpoints",
  {
    id: text<Id<"webhookEndpoint">>(),
    organizationId: text<Id<"organization">>(),
    url: text(),
    description: text().nullable(),
    /** Empty: all. */
    eventTypes: json<readonly string[]>(),
    status: text<EndpointStatus>(),
    /** A sentence for the merchant; null while enabled. */
    disabledReason: text().nullable(),
    /** Sealed with the key for webhook secrets; it opens for this endpoint alone. */
    secret: text(),
    /** The secret before the last rotation, sealed alike; it signs beside the new one until its time is over. */
    previousSecret: text().nullable(),
    previousSecretUntil: time().nullable(),
    /** Since when every attempt has failed; null while all is well. */
    failingSince: time().nullable(),
    /** How many notices of it the organization's other endpoints were given. */
    failingNotices: integer(),
    /** When the first delivery since then was given up. */
    firstGivenUpAt: time().nullable(),
    /** The version of the bodies, as it was when the endpoint was made. */
    apiVersion: text(),
    /** The number of the last delivery that was made for it, without gaps. */
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

/** One event on its way to one endpoint. */
export const webhookDeliveries = table(
  "webhook_deliveries",
  {
    id: text<Id<"webhookDelivery">>(),
    organizationId: text<Id<"organization">>(),
    endpointId: text<Id<"webhookEndpoint">>(),
    eventId: text<Id<"event">>(),
    eventType: text(),
    status: text<DeliveryStatus>(),
    /** The event's place among those of its endpoint, without gaps. */
    sequence: integer(),
    /** Attempts whose outcome is known. */
    attempts: integer(),
    /** When a deliverer may take it: the next attempt, or the end of the lease in progress; null when it is over. */
    dueAt: time().nullable(),
    lastAttemptAt: time().nullable(),
    /** Of the claim in progress: an outcome under another token is thrown away. */
    leaseToken: text().nullable(),
    responseStatus: integer().nullable(),
    lastError: text().nullable(),
    /** The delivery that this one repeats; null for the event's own. */
    replayOf: text<Id<"webhookDelivery">>().nullable(),
    createdAt: time(),
    completedAt: time().nullable(),
    /** The exact text that is signed and sent, rendered once. Last, so that what comes before is read without it. */
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

/** What became of each attempt. For the operator alone: what a receiver answers may be anything. */
export const webhookAttempts = table(
  "webhook_attempts",
  {
    deliveryId: text<Id<"webhookDelivery">>(),
    /** Counts from 1. */
    number: integer(),
    startedAt: time(),
    durationMs: integer(),
    responseStatus: integer().nullable(),
    errorKind: text<FailureKind>().nullable(),
    bodyExcerpt: text().nullable(),
  },
  { primaryKey: ["deliveryId", "number"] },
);
