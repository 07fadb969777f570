import type { InTx } from "../../../app.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { eventBody, type EventRow, type RelayedEvent } from "../../../platform/events/outbox.ts";
import { addDeliveries, type DeliveryRow } from "./store.ts";
import { wakeDeliverer } from "../endpoints.ts";
import { lockEnabledEndpoints, type EndpointRow } from "../endpoints/store.ts";

/**
 * Adds a delivery for each subscribed endpoint, in the transaction of the relay. The number of statements does not depend
 * on the number of events.
 */
export async function fanOutEvents(
  tx: Tx,
  app: InTx,
  relayed: readonly RelayedEvent[],
): Promise<void> {
  const { clock, ids } = app;
  const organizationIds = new Set(
    relayed.map((event) => event.organizationId).filter((id) => id !== null),
  );
  if (organizationIds.size === 0) return;
  const endpoints = byOrganization(await lockEnabledEndpoints(tx, [...organizationIds]));
  const at = clock.now();
  const sequences = new Map<Id<"webhookEndpoint">, number>();
  const deliveries: DeliveryRow[] = [];
  for (const event of relayed) {
    for (const endpoint of endpoints.get(event.organizationId ?? "") ?? []) {
      if (!wants(endpoint, event)) continue;
      const sequence = (sequences.get(endpoint.id) ?? endpoint.lastSequence) + 1;
      sequences.set(endpoint.id, sequence);
      deliveries.push({
        ...newDelivery(event, endpoint, sequence),
        id: ids.next("webhookDelivery", at),
        dueAt: at,
        createdAt: at,
      });
    }
  }
  if (deliveries.length === 0) return;
  await addDeliveries(tx, deliveries, sequences);
  wakeDeliverer(tx, app);
}

function byOrganization(
  endpoints: readonly EndpointRow[],
): ReadonlyMap<string, readonly EndpointRow[]> {
  const grouped = new Map<string, EndpointRow[]>();
  for (const endpoint of endpoints) {
    const group = grouped.get(endpoint.organizationId);
    if (group === undefined) grouped.set(endpoint.organizationId, [endpoint]);
    else group.push(endpoint);
  }
  return grouped;
}

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
function wants(
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
