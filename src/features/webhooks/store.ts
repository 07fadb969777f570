import type { Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import type { PageRequest } from "../../kernel/page.ts";
import {
  columns,
  type Dialect,
  type Reader,
  type RowOf,
  type Tx,
} from "../../platform/database/index.ts";
import { givenRows, listed } from "../../platform/database/json-rows.ts";
import { pageQuery } from "../../platform/database/page-query.ts";
import type { DeliveryStatus, EndpointStatus } from "./status.ts";
import { webhookDeliveries, webhookEndpoints } from "./table.ts";

export type EndpointRow = RowOf<typeof webhookEndpoints>;
export type DeliveryRow = RowOf<typeof webhookDeliveries>;
/** A delivery without what is sent: what lists read. */
export type DeliveryView = Omit<DeliveryRow, "body" | "leaseToken" | "sequence">;

/** A bound JSON object, `$1`, to update from: its names as `key`, its numbers as `value`. */
const givenNumbers: Readonly<Record<Dialect, string>> = {
  sqlite: "json_each($1) AS given",
  postgres: "json_each_text(CAST($1 AS json)) AS given",
};

// --- endpoints ----------------------------------------------------------------------------------------------------

export interface EndpointFilters {
  readonly status?: EndpointStatus | undefined;
}

/** A page of endpoints, newest first. */
export function listEndpoints(
  reader: Reader,
  organizationId: Id<"organization">,
  filters: EndpointFilters,
  page: PageRequest,
): Promise<EndpointRow[]> {
  const { rest, values } = pageQuery(page, [
    ["organization_id =", organizationId],
    ["status =", filters.status],
  ]);
  return reader.find(webhookEndpoints, rest, values);
}

export function findEndpoint(
  reader: Reader,
  organizationId: Id<"organization">,
  endpointId: Id<"webhookEndpoint">,
): Promise<EndpointRow | null> {
  return reader.findOne(webhookEndpoints, "WHERE organization_id = $1 AND id = $2", [
    organizationId,
    endpointId,
  ]);
}

export function lockEndpoint(
  tx: Tx,
  organizationId: Id<"organization">,
  endpointId: Id<"webhookEndpoint">,
): Promise<EndpointRow | null> {
  return tx.lockOne(webhookEndpoints, "WHERE organization_id = $1 AND id = $2", [
    organizationId,
    endpointId,
  ]);
}

export async function countEnabledEndpoints(
  reader: Reader,
  organizationId: Id<"organization">,
): Promise<number> {
  const [counted] = await reader.all<{ total: number }>(
    `SELECT COUNT(*) AS total FROM webhook_endpoints WHERE organization_id = $1 AND status = 'enabled'`,
    [organizationId],
  );
  return counted?.total ?? 0;
}

/** The endpoints that events of these organizations go to, locked, so that their numbers stay without gaps. */
export function lockEnabledEndpoints(
  tx: Tx,
  organizationIds: readonly string[],
): Promise<EndpointRow[]> {
  return tx.lock(
    webhookEndpoints,
    `WHERE organization_id IN ${listed(tx.dialect, 1)} AND status = 'enabled' ORDER BY id`,
    [JSON.stringify(organizationIds)],
  );
}

// --- deliveries ---------------------------------------------------------------------------------------------------

export interface DeliveryFilters {
  readonly webhookEndpointId?: Id<"webhookEndpoint"> | undefined;
  readonly status?: DeliveryStatus | undefined;
  readonly eventType?: string | undefined;
}

/** What follows `FROM` may be any page of them. */
export const viewed = `SELECT id, organization_id AS "organizationId", endpoint_id AS "endpointId", event_id AS "eventId",
    event_type AS "eventType", status, attempts, due_at AS "dueAt", last_attempt_at AS "lastAttemptAt",
    response_status AS "responseStatus", last_error AS "lastError", replay_of AS "replayOf",
    created_at AS "createdAt", completed_at AS "completedAt"
  FROM webhook_deliveries`;

/** A page of deliveries, newest first. */
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

/** Whose a delivery is; null where there is none. */
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

/** Whether an attempt of an event at an endpoint is still to come or under way. */
export async function isInFlight(
  reader: Reader,
  endpointId: Id<"webhookEndpoint">,
  eventId: Id<"event">,
): Promise<boolean> {
  const found = await reader.all(
    `SELECT 1 AS found FROM webhook_deliveries
     WHERE event_id = $1 AND endpoint_id = $2 AND replay_of IS NULL AND due_at IS NOT NULL
     UNION ALL
     SELECT 1 AS found FROM webhook_deliveries
     WHERE event_id = $1 AND endpoint_id = $2 AND replay_of IS NOT NULL AND due_at IS NOT NULL
     LIMIT 1`,
    [eventId, endpointId],
  );
  return found.length > 0;
}

/** Adds an event's deliveries and notes the last number that each endpoint was given. */
export async function addDeliveries(
  tx: Tx,
  deliveries: readonly DeliveryRow[],
  sequences: ReadonlyMap<Id<"webhookEndpoint">, number>,
): Promise<void> {
  await tx.insertMany(webhookDeliveries, deliveries);
  await tx.run(
    `UPDATE webhook_endpoints SET last_sequence = CAST(given.value AS BIGINT)
     FROM ${givenNumbers[tx.dialect]} WHERE webhook_endpoints.id = given.key`,
    [JSON.stringify(Object.fromEntries(sequences))],
  );
}

// --- the queue ----------------------------------------------------------------------------------------------------

/** An endpoint with deliveries that are not over, and what sending to it takes. */
export interface Lane extends Pick<
  EndpointRow,
  "url" | "secret" | "previousSecret" | "previousSecretUntil" | "status" | "failingSince"
> {
  readonly endpointId: Id<"webhookEndpoint">;
  /** When the first of them is due. */
  readonly dueAt: Instant;
  /** How often that one was attempted. */
  readonly attempts: number;
}

/**
 * Every endpoint with deliveries that are not over. It hops over the index from endpoint to endpoint, so that it costs
 * the same however many deliveries one of them has.
 */
export function findLanes(reader: Reader): Promise<Lane[]> {
  const first = `FROM webhook_deliveries d
         WHERE d.endpoint_id = e.id AND d.due_at IS NOT NULL ORDER BY d.due_at, d.id LIMIT 1`;
  return reader.all<Lane>(
    `WITH RECURSIVE lanes (endpoint_id) AS (
       SELECT (SELECT d.endpoint_id FROM webhook_deliveries d
         WHERE d.due_at IS NOT NULL ORDER BY d.endpoint_id LIMIT 1)
       UNION ALL
       SELECT (SELECT d.endpoint_id FROM webhook_deliveries d
         WHERE d.due_at IS NOT NULL AND d.endpoint_id > lanes.endpoint_id ORDER BY d.endpoint_id LIMIT 1)
       FROM lanes WHERE lanes.endpoint_id IS NOT NULL
     )
     SELECT e.id AS "endpointId", e.url AS "url", e.secret AS "secret", e.previous_secret AS "previousSecret",
       e.previous_secret_until AS "previousSecretUntil", e.status AS "status", e.failing_since AS "failingSince",
       (SELECT d.due_at ${first}) AS "dueAt", (SELECT d.attempts ${first}) AS "attempts"
     FROM lanes JOIN webhook_endpoints e ON e.id = lanes.endpoint_id`,
  );
}

/** The first due of each endpoint that is asked for, as many as it is asked for: `given.value` is [endpoint, number]. */
const takenFrom: Readonly<Record<Dialect, (laneMax: number) => string>> = {
  // A LIMIT there cannot name a column.
  sqlite: (laneMax) => `json_each($1) AS given JOIN webhook_deliveries AS due ON due.id IN (
      SELECT first.id FROM (
        SELECT d.id AS id, ROW_NUMBER() OVER (ORDER BY d.due_at, d.id) AS place FROM (
          SELECT id, due_at FROM webhook_deliveries
          WHERE endpoint_id = given.value ->> 0 AND due_at <= $2
          ORDER BY due_at, id LIMIT ${String(laneMax)}
        ) AS d
      ) AS first WHERE first.place <= given.value ->> 1
    )`,
  postgres: () => `json_array_elements(CAST($1 AS json)) AS given(value) CROSS JOIN LATERAL (
      SELECT d.id FROM webhook_deliveries d
      WHERE d.endpoint_id = given.value ->> 0 AND d.due_at <= $2
      ORDER BY d.due_at, d.id LIMIT CAST(given.value ->> 1 AS BIGINT) FOR UPDATE SKIP LOCKED
    ) AS due`,
};

/** PostgreSQL takes the number of rows for a large one and would read the whole table: an array is looked up by key. */
const amongTaken: Readonly<Record<Dialect, string>> = {
  sqlite: "IN (SELECT taken.id FROM taken)",
  postgres: "= ANY (ARRAY(SELECT taken.id FROM taken))",
};

/**
 * Takes due deliveries of the endpoints, as many of each as `wanted` says, at most `laneMax`. Until the lease ends
 * nobody else takes them; then anybody may. What another process is just taking is passed over.
 */
export async function claimDue(
  tx: Tx,
  wanted: ReadonlyMap<Id<"webhookEndpoint">, number>,
  claim: {
    readonly now: Instant;
    readonly leaseUntil: Instant;
    readonly token: string;
    readonly laneMax: number;
  },
): Promise<DeliveryRow[]> {
  const claimed = await tx.all<DeliveryRow>(
    `WITH taken AS MATERIALIZED (SELECT due.id AS id FROM ${takenFrom[tx.dialect](claim.laneMax)})
     UPDATE webhook_deliveries SET status = 'in_progress', due_at = $3, lease_token = $4
     WHERE id ${amongTaken[tx.dialect]} AND due_at <= $2
     RETURNING ${columns(webhookDeliveries)}`,
    [JSON.stringify([...wanted]), claim.now, claim.leaseUntil, claim.token],
  );
  return claimed.sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** Makes every claimed delivery due now; gives how many there were. Whoever claimed it is fenced off by its token. */
export function endClaims(tx: Tx, now: Instant): Promise<number> {
  return tx.run(
    "UPDATE webhook_deliveries SET due_at = $1 WHERE due_at > $1 AND status = 'in_progress'",
    [now],
  );
}

/** A claimed delivery as it stands after its attempt. */
export type SettledDelivery = Pick<
  DeliveryRow,
  | "id"
  | "status"
  | "attempts"
  | "dueAt"
  | "lastAttemptAt"
  | "leaseToken"
  | "responseStatus"
  | "lastError"
  | "completedAt"
>;

/**
 * Writes outcomes down and gives the ids of those that counted: an outcome whose lease has passed to another claim
 * changes nothing.
 */
export async function settleDeliveries(
  tx: Tx,
  settled: readonly SettledDelivery[],
): Promise<ReadonlySet<Id<"webhookDelivery">>> {
  const rows = settled.map((delivery) => [
    delivery.id,
    delivery.leaseToken,
    delivery.status,
    delivery.attempts,
    delivery.dueAt,
    delivery.lastAttemptAt,
    delivery.responseStatus,
    delivery.lastError,
    delivery.completedAt,
  ]);
  const counted = await tx.all<{ id: Id<"webhookDelivery"> }>(
    `UPDATE webhook_deliveries SET
       status = given.value ->> 2,
       attempts = CAST(given.value ->> 3 AS BIGINT),
       due_at = CAST(given.value ->> 4 AS BIGINT),
       last_attempt_at = CAST(given.value ->> 5 AS BIGINT),
       response_status = CAST(given.value ->> 6 AS BIGINT),
       last_error = given.value ->> 7,
       completed_at = CAST(given.value ->> 8 AS BIGINT),
       lease_token = NULL
     FROM ${givenRows[tx.dialect]}
     WHERE webhook_deliveries.id = given.value ->> 0 AND webhook_deliveries.status = 'in_progress'
       AND webhook_deliveries.lease_token = given.value ->> 1
     RETURNING webhook_deliveries.id AS "id"`,
    [JSON.stringify(rows)],
  );
  return new Set(counted.map(({ id }) => id));
}

/** Deliveries that one statement gives up. */
export const givenUpMax = 500;

/**
 * Moves deliveries of an endpoint that nobody holds to the dead letters: all of them, or those made before a time.
 * Gives how many, at most `givenUpMax`: then there may be more.
 */
export async function giveUp(
  tx: Tx,
  endpointId: Id<"webhookEndpoint">,
  reason: { readonly at: Instant; readonly error: string; readonly madeBefore?: Instant },
): Promise<number> {
  return tx.run(
    `UPDATE webhook_deliveries SET status = 'dead_letter', due_at = NULL, lease_token = NULL,
       completed_at = $2, last_error = $3
     WHERE id IN (
       SELECT id FROM webhook_deliveries
       WHERE endpoint_id = $1 AND due_at IS NOT NULL AND (status <> 'in_progress' OR due_at <= $2)
         AND created_at < $4
       ORDER BY due_at LIMIT ${String(givenUpMax)}
     ) AND due_at IS NOT NULL AND (status <> 'in_progress' OR due_at <= $2)`,
    [endpointId, reason.at, reason.error, reason.madeBefore ?? Number.MAX_SAFE_INTEGER],
  );
}

// --- endpoints that fail ------------------------------------------------------------------------------------------

/** Endpoints that answer again: what was kept of their failures is forgotten. */
export async function forgiveEndpoints(
  tx: Tx,
  endpointIds: readonly Id<"webhookEndpoint">[],
): Promise<void> {
  await tx.run(
    `UPDATE webhook_endpoints SET failing_since = NULL, failing_notices = 0, first_given_up_at = NULL
     WHERE id IN ${listed(tx.dialect, 1)} AND failing_since IS NOT NULL`,
    [JSON.stringify(endpointIds)],
  );
}

/** Endpoints by their ids, locked in the order in which everybody locks them. */
export function lockEndpoints(
  tx: Tx,
  endpointIds: readonly Id<"webhookEndpoint">[],
): Promise<EndpointRow[]> {
  return tx.lock(webhookEndpoints, `WHERE id IN ${listed(tx.dialect, 1)} ORDER BY id`, [
    JSON.stringify(endpointIds),
  ]);
}
