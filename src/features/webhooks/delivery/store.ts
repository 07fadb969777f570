import type { Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import type { PageRequest } from "../../../kernel/page.ts";
import type { Reader, Tx } from "../../../platform/database/database.ts";
import type { RowOf } from "../../../platform/database/schema/table.ts";
import { pageQuery } from "../../../platform/database/query/page.ts";
import type { DeliveryStatus } from "../status.ts";
import { webhookDeliveries, webhookEndpoints, type webhookAttempts } from "../table.ts";

export type DeliveryRow = RowOf<typeof webhookDeliveries>;
/** A delivery with its payload and its completed attempts. */
export interface DeliveryDetail {
  readonly delivery: DeliveryRow & Pick<DeliveryView, "pausedUntil">;
  readonly attempts: readonly RowOf<typeof webhookAttempts>[];
}

/** A delivery without its body, as used by lists. */
export type DeliveryView = Omit<
  DeliveryRow,
  "body" | "leaseToken" | "sequence" | "earlyAttempts"
> & {
  /** End of its endpoint's pause; null if the endpoint is not paused. */
  readonly pausedUntil: Instant | null;
};

export interface DeliveryFilters {
  readonly webhookEndpointId?: Id<"webhookEndpoint"> | undefined;
  readonly status?: DeliveryStatus | undefined;
  readonly eventType?: string | undefined;
}

/** SELECT of delivery views; callers append a condition and a page. */
export const viewed = `SELECT id, organization_id AS "organizationId", endpoint_id AS "endpointId", event_id AS "eventId",
    event_type AS "eventType", status, attempts, due_at AS "dueAt", last_attempt_at AS "lastAttemptAt",
    response_status AS "responseStatus", last_error AS "lastError", replay_of AS "replayOf",
    created_at AS "createdAt", completed_at AS "completedAt", (
      SELECT endpoint.probe_at FROM webhook_endpoints AS endpoint
      WHERE endpoint.id = endpoint_id AND endpoint.paused_since IS NOT NULL
    ) AS "pausedUntil"
  FROM webhook_deliveries`;

/** Returns a page of deliveries, newest first. */
export function listDeliveries(
  reader: Reader,
  organizationId: Id<"organization">,
  filters: DeliveryFilters,
  page: PageRequest,
): Promise<DeliveryView[]> {
  const { rest, values } = pageQuery(page, [
    ["organization_id =", organizationId],
    ["endpoint_id =", filters.webhookEndpointId],
    ["status =", filters.status],
    ["event_type =", filters.eventType],
  ]);
  return reader.all<DeliveryView>(`${viewed} ${rest}`, values);
}

export function findDelivery(
  reader: Reader,
  organizationId: Id<"organization">,
  deliveryId: Id<"webhookDelivery">,
): Promise<DeliveryRow | null> {
  return reader.findOne(webhookDeliveries, "WHERE organization_id = $1 AND id = $2", [
    organizationId,
    deliveryId,
  ]);
}

/** Returns the organization of a delivery; null if the delivery does not exist. */
export async function ownerOfDelivery(
  reader: Reader,
  deliveryId: Id<"webhookDelivery">,
): Promise<Id<"organization"> | null> {
  const [found] = await reader.all<{ organizationId: Id<"organization"> }>(
    `SELECT organization_id AS "organizationId" FROM webhook_deliveries WHERE id = $1`,
    [deliveryId],
  );
  return found?.organizationId ?? null;
}

/** Returns an event's pending or running delivery to an endpoint; null without one. */
export async function findInFlight(
  reader: Reader,
  endpointId: Id<"webhookEndpoint">,
  eventId: Id<"event">,
): Promise<Pick<DeliveryRow, "status" | "dueAt"> | null> {
  const [found] = await reader.all<Pick<DeliveryRow, "status" | "dueAt">>(
    `SELECT status AS "status", due_at AS "dueAt" FROM webhook_deliveries
     WHERE event_id = $1 AND endpoint_id = $2 AND replay_of IS NULL AND due_at IS NOT NULL
     UNION ALL
     SELECT status AS "status", due_at AS "dueAt" FROM webhook_deliveries
     WHERE event_id = $1 AND endpoint_id = $2 AND replay_of IS NOT NULL AND due_at IS NOT NULL
     LIMIT 1`,
    [eventId, endpointId],
  );
  return found ?? null;
}

/** Inserts an event's deliveries and updates the endpoints' last sequence numbers. */
export async function addDeliveries(
  tx: Tx,
  deliveries: readonly DeliveryRow[],
  sequences: ReadonlyMap<Id<"webhookEndpoint">, number>,
): Promise<void> {
  await tx.insertMany(webhookDeliveries, deliveries);
  await tx.updateMany(
    webhookEndpoints,
    [...sequences].map(([id, lastSequence]) => ({ where: { id }, set: { lastSequence } })),
  );
}
