import type { Id } from "../../kernel/id.ts";
import { eventBody, type EventRow } from "../../platform/events/index.ts";
import type { DeliveryRow } from "./delivery-store.ts";
import type { EndpointRow } from "./endpoint-store.ts";

/**
 * The text that is signed and sent for one event at one endpoint: rendered once, the same on every attempt and replay.
 * `sequence` counts an endpoint's events without gaps and `data.objectVersion` an object's changes, so that a receiver
 * sees what it missed and drops what is stale.
 */
function renderMessage(
  event: EventRow,
  endpoint: Pick<EndpointRow, "apiVersion">,
  sequence: number,
): string {
  return JSON.stringify({ ...eventBody(event), apiVersion: endpoint.apiVersion, sequence });
}

/**
 * Whether an endpoint is told of an event: not of what happened before it was there, nor of itself, nor of a test,
 * whose one delivery was made with it.
 */
export function wants(
  endpoint: Pick<EndpointRow, "id" | "eventTypes" | "createdAt">,
  event: Pick<EventRow, "type" | "objectId" | "occurredAt">,
): boolean {
  if (event.occurredAt < endpoint.createdAt || event.objectId === endpoint.id) return false;
  if (event.type === "webhook.ping") return false;
  return endpoint.eventTypes.length === 0 || endpoint.eventTypes.includes(event.type);
}

/** A delivery that is still to be made, but for its own id and times. */
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
    lastAttemptAt: null,
    leaseToken: null,
    responseStatus: null,
    lastError: null,
    replayOf: null,
    completedAt: null,
    body: renderMessage(event, endpoint, sequence),
  };
}
