import type { Clock } from "../../../kernel/clock.ts";
import { assert, notFound } from "../../../kernel/errors.ts";
import type { Id, IdSource } from "../../../kernel/id.ts";
import type { Journal } from "../../../platform/journal/index.ts";
import type { Database, WriteContext } from "../../../platform/database/database.ts";
import { EndpointDisabled } from "../errors.ts";
import { newDelivery } from "./message.ts";
import { presentEndpoint } from "../present.ts";
import { addDeliveries, type DeliveryView } from "./store.ts";
import { pausedUntil } from "../endpoints/failure-policy.ts";
import { lockEndpoint, probeNow } from "../endpoints/store.ts";

export interface EndpointTest {
  /**
   * Sends a test event: a `webhook.ping` to this endpoint only, whatever its event types. It is delivered like any
   * other event.
   */
  sendTest(
    context: WriteContext,
    organizationId: Id<"organization">,
    endpointId: Id<"webhookEndpoint">,
  ): Promise<DeliveryView>;
}

export function makeEndpointTest(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly journal: Journal;
  /** Wakes the deliverer. */
  readonly wake: () => void;
}): EndpointTest {
  const { db, clock, ids, journal } = deps;
  return {
    sendTest(context, organizationId, endpointId) {
      return db.write(context, async (tx) => {
        const found = await lockEndpoint(tx, organizationId, endpointId);
        if (found === null) throw notFound();
        if (found.status !== "enabled") {
          throw new EndpointDisabled("Enable the endpoint, then send the test.");
        }
        const at = clock.now();
        // A paused endpoint is tried at once; if it responds, the test follows what has waited longer.
        const endpoint = await probeNow(tx, found, at);
        const subject = {
          organizationId,
          subjectType: "webhook_endpoint",
          subjectId: endpointId,
        };
        const [event] = journal.record(tx, at, {
          ...subject,
          events: {
            types: ["webhook.ping"],
            version: endpoint.version,
            data: presentEndpoint(endpoint),
          },
        });
        assert(event !== undefined, "a test raises one event");
        const sequence = endpoint.lastSequence + 1;
        const delivery = {
          ...newDelivery(event, endpoint, sequence),
          id: ids.next("webhookDelivery", at),
          dueAt: at,
          createdAt: at,
        };
        await addDeliveries(tx, [delivery], new Map([[endpointId, sequence]]));
        journal.record(tx, at, {
          ...subject,
          action: "webhook_endpoint.tested",
          changes: { eventId: event.id },
        });
        tx.afterCommit(deps.wake);
        return { ...delivery, pausedUntil: pausedUntil(endpoint) };
      });
    },
  };
}
