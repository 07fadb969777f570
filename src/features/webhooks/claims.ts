import type { Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import { columns, type Dialect, type Reader, type Tx } from "../../platform/database/index.ts";
import { givenRows } from "../../platform/database/json-rows.ts";
import type { DeliveryRow } from "./delivery-store.ts";
import type { EndpointRow } from "./endpoint-store.ts";
import { webhookDeliveries } from "./table.ts";

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

/** Those of the claimed deliveries that no other claim has taken meanwhile. */
export async function findStillHeld(
  reader: Reader,
  claimed: readonly Pick<DeliveryRow, "id" | "leaseToken">[],
): Promise<ReadonlySet<Id<"webhookDelivery">>> {
  const held = await reader.all<{ id: Id<"webhookDelivery"> }>(
    `SELECT webhook_deliveries.id AS "id" FROM ${givenRows[reader.dialect]}
     JOIN webhook_deliveries ON webhook_deliveries.id = given.value ->> 0
       AND webhook_deliveries.lease_token = given.value ->> 1`,
    [JSON.stringify(claimed.map(({ id, leaseToken }) => [id, leaseToken]))],
  );
  return new Set(held.map(({ id }) => id));
}

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
