import type { Id } from "../../../kernel/id.ts";
import { eventBody, type EventRow } from "../../../platform/events/index.ts";
import type { DeliveryRow } from "./store.ts";
import type { EndpointRow } from "../endpoints/store.ts";

/**
 * Renders the body for an event and an endpoint, once, so that it is identical in every attempt and replay. `sequence`
 * counts an endpoint's events without gaps, and `data.objectVersion` counts an object's changes: receivers can detect
 * missed events and drop stale ones.
 */
function renderMessage(
  event: EventRow,
  endpoint: Pick<EndpointRow, "apiVersion">,
  sequence: number,
): string {
  return JSON.stringify({ ...eventBody(event), apiVersion: endpoint.apiVersion, sequence });
}

/**
 * Whether an endpoint receives an event. It receives no events from before its creation, no events about itself and no
 * tests, whose single delivery is created along with them.
 */
export function wants(
  endpoint: Pick<EndpointRow, "id" | "eventTypes" | "createdAt">,
  event: Pick<EventRow, "type" | "objectId" | "occurredAt">,
): boolean {
  if (event.occurredAt < endpoint.createdAt || event.objectId === endpoint.id) return false;
  if (event.type === "webhook.ping") return false;
  return endpoint.eventTypes.length === 0 || endpoint.eventTypes.includes(event.type);
}

/** Returns a new delivery without its id and times. */
export function newDelivery(
  event: EventRow,
  endpoint: EndpointRow,
  sequence: number,
): Omit<DeliveryRow, "id" | "dueAt" | "createdAt"> {
  return {
    organizationId: endpoint.organizationId,
    endpointId: endpoint.id,
    eventId: event.id as Id<"event">,
    eventType: event.type,
    status: "pending",
    sequence,
    attempts: 0,
    earlyAttempts: 0,
    lastAttemptAt: null,
    leaseToken: null,
    responseStatus: null,
    lastError: null,
    replayOf: null,
    completedAt: null,
    body: renderMessage(event, endpoint, sequence),
  };
}
