import type { InTx } from "../../../app.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Tx } from "../../../platform/database/database.ts";
import type { RelayedEvent } from "../../../platform/events/relay.ts";
import { newDelivery, wants } from "./message.ts";
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
