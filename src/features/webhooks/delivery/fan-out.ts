import type { Clock } from "../../../kernel/clock.ts";
import type { Id, IdSource } from "../../../kernel/id.ts";
import type { Subscriber } from "../../../platform/events/relay.ts";
import { newDelivery, wants } from "./message.ts";
import { addDeliveries, type DeliveryRow } from "./store.ts";
import { lockEnabledEndpoints, type EndpointRow } from "../endpoints/store.ts";

/**
 * Creates the subscriber that adds a delivery for each subscribed endpoint, in the transaction of the relay. The number
 * of statements does not depend on the number of events.
 */
export function makeFanOut(deps: {
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Wakes the deliverer. */
  readonly wake: () => void;
}): Subscriber {
  const { clock, ids, wake } = deps;
  return async (tx, relayed) => {
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
    tx.afterCommit(wake);
  };
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
