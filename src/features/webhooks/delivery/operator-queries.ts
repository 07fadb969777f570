import type { Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import type { PageRequest } from "../../../kernel/page.ts";
import type { Reader } from "../../../platform/database/database.ts";
import type { RowOf } from "../../../platform/database/schema/table.ts";
import { pageQuery } from "../../../platform/database/query/page.ts";
import type { FailedJob, FailurePlace } from "../../../platform/jobs/inspection.ts";
import type { DeliveryStatus } from "../status.ts";
import { shownAttemptsMax } from "./retry-policy.ts";
import { viewed, type DeliveryView } from "./store.ts";
import { webhookAttempts } from "../table.ts";

// Deliveries of all organizations, for the platform.

export interface PlatformDeliveryFilters {
  readonly organizationId?: Id<"organization"> | undefined;
  readonly status?: DeliveryStatus | undefined;
  /** Requires an organization, with which the index starts. */
  readonly webhookEndpointId?: Id<"webhookEndpoint"> | undefined;
  readonly eventType?: string | undefined;
}

/** A delivery with its endpoint's URL. */
export interface PlatformDelivery extends DeliveryView {
  readonly url: string;
}

/** Returns a page of all organizations' deliveries, newest first. */
export function listAllDeliveries(
  reader: Reader,
  { organizationId, status, webhookEndpointId, eventType }: PlatformDeliveryFilters,
  page: PageRequest,
): Promise<PlatformDelivery[]> {
  const { rest, values } = pageQuery(page, [
    ["organization_id =", organizationId],
    [`${amongUnusual(organizationId, status)}status =`, status],
    ["endpoint_id =", webhookEndpointId],
    ["event_type =", eventType],
  ]);
  return reader.all<PlatformDelivery>(
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
  after: FailurePlace,
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
