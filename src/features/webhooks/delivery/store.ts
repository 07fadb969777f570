import type { Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import type { PageRequest } from "../../../kernel/page.ts";
import type { Reader, Tx } from "../../../platform/database/database.ts";
import type { RowOf } from "../../../platform/database/schema/table.ts";
import { pageQuery } from "../../../platform/database/query/lists.ts";
import type { FailedJob, FailurePosition } from "../../../platform/jobs/queue.ts";
import type { DeliveryStatus } from "../status.ts";
import { webhookDeliveries, webhookEndpoints, webhookAttempts } from "../table.ts";
import { shownAttemptsMax } from "./retry-policy.ts";

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

/** A delivery with its endpoint's URL. */
export interface ListedDelivery extends DeliveryView {
  readonly url: string;
}

export interface DeliveryFilters {
  /** If undefined, the deliveries of every organization. */
  readonly organizationId?: Id<"organization"> | undefined;
  readonly status?: DeliveryStatus | undefined;
  /** Requires an organization, with which the index starts. */
  readonly webhookEndpointId?: Id<"webhookEndpoint"> | undefined;
  readonly eventType?: string | undefined;
}

/** SELECT of delivery views; callers append a condition and a page. */
const viewed = `SELECT id, organization_id AS "organizationId", endpoint_id AS "endpointId", event_id AS "eventId",
    event_type AS "eventType", status, attempts, due_at AS "dueAt", last_attempt_at AS "lastAttemptAt",
    response_status AS "responseStatus", last_error AS "lastError", replay_of AS "replayOf",
    created_at AS "createdAt", completed_at AS "completedAt", (
      SELECT endpoint.probe_at FROM webhook_endpoints AS endpoint
      WHERE endpoint.id = endpoint_id AND endpoint.paused_since IS NOT NULL
    ) AS "pausedUntil"
  FROM webhook_deliveries`;

/** Returns a page of an organization's deliveries, or of all, newest first. */
export function listDeliveries(
  reader: Reader,
  { organizationId, status, webhookEndpointId, eventType }: DeliveryFilters,
  page: PageRequest,
): Promise<ListedDelivery[]> {
  const { rest, values } = pageQuery(page, [
    ["organization_id =", organizationId],
    [`${amongUnusual(organizationId, status)}status =`, status],
    ["endpoint_id =", webhookEndpointId],
    ["event_type =", eventType],
  ]);
  return reader.all<ListedDelivery>(
    `SELECT delivery.*, endpoint.url AS "url" FROM (${viewed} ${rest}) AS delivery
     JOIN webhook_endpoints AS endpoint ON endpoint.id = delivery."endpointId"
     ORDER BY delivery.id DESC`,
    values,
  );
}

/**
 * Returns the condition of the partial index on deliveries that did not succeed. Successful ones are frequent enough to
 * be found without an index.
 */
function amongUnusual(
  organizationId: string | undefined,
  status: DeliveryStatus | undefined,
): string {
  return organizationId !== undefined || status === "succeeded" ? "" : "status <> 'succeeded' AND ";
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

/** Completed deliveries of a period, by the time at which they were created. */
export interface ReplayPeriod {
  readonly status: "dead_letter" | "succeeded";
  readonly from: Instant;
  /** Exclusive; null for no end. */
  readonly to: Instant | null;
  readonly webhookEndpointId?: Id<"webhookEndpoint"> | undefined;
}

/** Returns an organization's deliveries of a period, oldest first, without those that were replayed since. */
export function deliveriesToReplay(
  reader: Reader,
  organizationId: Id<"organization">,
  { status, from, to, webhookEndpointId }: ReplayPeriod,
  limit: number,
): Promise<DeliveryView[]> {
  return reader.all<DeliveryView>(
    `${viewed} AS delivery
     WHERE organization_id = $1 AND status = $2 AND created_at >= $3 AND created_at < COALESCE($4, created_at + 1)
       AND endpoint_id = COALESCE($5, endpoint_id)
       AND NOT EXISTS (SELECT 1 FROM webhook_deliveries AS later
         WHERE later.event_id = delivery.event_id AND later.endpoint_id = delivery.endpoint_id
           AND later.replay_of IS NOT NULL AND later.id > delivery.id)
     ORDER BY id LIMIT $6`,
    [organizationId, status, from, to, webhookEndpointId ?? null, limit],
  );
}

/** Returns the newest attempts of a delivery, at most `shownAttemptsMax`, first one first. */
export async function listAttempts(
  reader: Reader,
  deliveryId: Id<"webhookDelivery">,
): Promise<RowOf<typeof webhookAttempts>[]> {
  const newest = await reader.find(
    webhookAttempts,
    `WHERE delivery_id = $1 ORDER BY number DESC LIMIT ${String(shownAttemptsMax)}`,
    [deliveryId],
  );
  return newest.toReversed();
}

/** Returns dead letters as failed jobs, latest failure first. They can be replayed by id. */
export function deadLetters(
  reader: Reader,
  after: FailurePosition,
  limit: number,
): Promise<FailedJob[]> {
  return reader.all<FailedJob>(
    `SELECT id AS "id", 'webhooks' AS "queue", event_type AS "name", attempts AS "attempts",
       COALESCE(last_error, '') AS "failedReason", organization_id AS "organizationId",
       created_at AS "createdAt", completed_at AS "failedAt"
     FROM webhook_deliveries
     WHERE status = 'dead_letter' AND completed_at <= $1 AND (completed_at < $1 OR id < $2)
     ORDER BY completed_at DESC, id DESC LIMIT $3`,
    [after.failedAt, after.id, limit],
  );
}
