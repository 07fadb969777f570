import { toIso } from "../../kernel/clock.ts";
import type { RelayedEvent } from "../../platform/events/relay.ts";
import type { EndpointRow } from "./store.ts";

/**
 * The text that is signed and sent for one event at one endpoint: rendered once, the same on every attempt and replay.
 * `sequence` counts an endpoint's events without gaps and `data.objectVersion` an object's changes, so that a receiver
 * sees what it missed and drops what is stale.
 */
export function renderMessage(
  event: RelayedEvent,
  endpoint: Pick<EndpointRow, "apiVersion">,
  sequence: number,
): string {
  return JSON.stringify({
    type: event.type,
    timestamp: toIso(event.occurredAt),
    data: { ...event.payload, objectVersion: event.objectVersion },
    apiVersion: endpoint.apiVersion,
    organizationId: event.organizationId,
    sequence,
  });
}

/** Whether an endpoint is told of an event: not of what happened before it was there, nor of itself. */
export function wants(
  endpoint: Pick<EndpointRow, "id" | "eventTypes" | "createdAt">,
  event: Pick<RelayedEvent, "type" | "objectId" | "occurredAt">,
): boolean {
  if (event.occurredAt < endpoint.createdAt || event.objectId === endpoint.id) return false;
  return endpoint.eventTypes.length === 0 || endpoint.eventTypes.includes(event.type);
}
