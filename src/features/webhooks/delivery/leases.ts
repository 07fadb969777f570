import type { Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import { columns } from "../../../platform/database/schema/statements.ts";
import { integer, text, time } from "../../../platform/database/schema/table.ts";
import type { Reader, Tx } from "../../../platform/database/database.ts";
import { firstOfEach } from "../../../platform/database/query/first-of-each.ts";
import { among, givenRows, listed } from "../../../platform/database/query/json-rows.ts";
import type { DeliveryRow } from "./store.ts";
import type { EndpointRow } from "../endpoints/store.ts";
import { webhookDeliveries } from "../table.ts";

/** An endpoint with pending deliveries, and everything needed to send to it. */
export interface EndpointBacklog extends Pick<
  EndpointRow,
  | "organizationId"
  | "url"
  | "secret"
  | "previousSecret"
  | "previousSecretUntil"
  | "status"
  | "failingSince"
  | "pausedSince"
  | "probeAt"
> {
  readonly endpointId: Id<"webhookEndpoint">;
  /** Due time of the first pending delivery. */
  readonly dueAt: Instant;
  /** Number of attempts of that delivery. */
  readonly attempts: number;
  /** Number of those made ahead of the schedule. */
  readonly earlyAttempts: number;
}

/**
 * Returns every endpoint with pending deliveries. It skips through the index from endpoint to endpoint, so the cost
 * does not depend on the number of deliveries per endpoint.
 */
export function findBacklogs(reader: Reader): Promise<EndpointBacklog[]> {
  const first = `FROM webhook_deliveries d
         WHERE d.endpoint_id = e.id AND d.due_at IS NOT NULL ORDER BY d.due_at, d.id LIMIT 1`;
  return reader.all<EndpointBacklog>(
    `WITH RECURSIVE backlogs (endpoint_id) AS (
       SELECT (SELECT d.endpoint_id FROM webhook_deliveries d
         WHERE d.due_at IS NOT NULL ORDER BY d.endpoint_id LIMIT 1)
       UNION ALL
       SELECT (SELECT d.endpoint_id FROM webhook_deliveries d
         WHERE d.due_at IS NOT NULL AND d.endpoint_id > backlogs.endpoint_id ORDER BY d.endpoint_id LIMIT 1)
       FROM backlogs WHERE backlogs.endpoint_id IS NOT NULL
     )
     SELECT e.id AS "endpointId", e.organization_id AS "organizationId", e.url AS "url", e.secret AS "secret", e.previous_secret AS "previousSecret",
       e.previous_secret_until AS "previousSecretUntil", e.status AS "status", e.failing_since AS "failingSince",
       e.paused_since AS "pausedSince", e.probe_at AS "probeAt",
       (SELECT d.due_at ${first}) AS "dueAt", (SELECT d.attempts ${first}) AS "attempts",
       (SELECT d.early_attempts ${first}) AS "earlyAttempts"
     FROM backlogs JOIN webhook_endpoints e ON e.id = backlogs.endpoint_id`,
  );
}

const wantedRows = givenRows("given", {
  endpointId: text<Id<"webhookEndpoint">>(),
  wanted: integer(),
  until: time(),
});

/**
 * Claims due deliveries: for each endpoint the number in `wanted`, at most `perEndpointMax`. For endpoints in `lone` the
 * first waiting delivery is claimed, due or not, unless another process has claimed it for the same lone attempt. Until
 * the lease ends, no one else can claim them. Deliveries that another process is claiming now are skipped.
 */
export async function leaseDue(
  tx: Tx,
  wanted: ReadonlyMap<Id<"webhookEndpoint">, number>,
  lease: {
    readonly lone: ReadonlySet<Id<"webhookEndpoint">>;
    readonly now: Instant;
    readonly leaseUntil: Instant;
    readonly token: string;
    readonly perEndpointMax: number;
  },
): Promise<DeliveryRow[]> {
  const isLone = (endpointId: Id<"webhookEndpoint">) => lease.lone.has(endpointId);
  const probing = await leaseProbes(tx, [...wanted.keys()].filter(isLone), lease);
  const given = [...wanted]
    .filter(([endpointId]) => !isLone(endpointId) || probing.has(endpointId))
    .map(([endpointId, count]) => ({
      endpointId,
      wanted: count,
      until: isLone(endpointId) ? Number.MAX_SAFE_INTEGER : lease.now,
    }));
  if (given.length === 0) return [];
  const due = firstOfEach(tx.dialect, "due", {
    given: wantedRows.from(tx.dialect, 1),
    table: "webhook_deliveries",
    columns: ["id"],
    where: `one.endpoint_id = given.endpoint_id AND one.due_at <= given.until
      AND (one.due_at <= $2 OR one.status = 'failed')`,
    order: ["due_at", "id"],
    direction: "ASC",
    limit: { column: "given.wanted", max: lease.perEndpointMax },
    isLocking: true,
  });
  const leased = await tx.all<DeliveryRow>(
    `WITH taken AS MATERIALIZED (SELECT due.id AS id FROM ${due})
     UPDATE webhook_deliveries SET status = 'in_progress', due_at = $3, lease_token = $4,
       early_attempts = early_attempts + CASE WHEN due_at > $2 THEN 1 ELSE 0 END
     WHERE id ${among(tx.dialect, "(SELECT taken.id FROM taken)")} AND (due_at <= $2 OR status = 'failed')
     RETURNING ${columns(webhookDeliveries)}`,
    [wantedRows.values(given), lease.now, lease.leaseUntil, lease.token],
  );
  return leased.sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** Postpones the lone attempts of these endpoints to the end of the lease; returns those whose attempt was due. */
async function leaseProbes(
  tx: Tx,
  endpointIds: readonly Id<"webhookEndpoint">[],
  { now, leaseUntil }: { readonly now: Instant; readonly leaseUntil: Instant },
): Promise<ReadonlySet<Id<"webhookEndpoint">>> {
  if (endpointIds.length === 0) return new Set();
  const leased = await tx.all<{ id: Id<"webhookEndpoint"> }>(
    `UPDATE webhook_endpoints SET probe_at = $1
     WHERE id IN ${listed(tx.dialect, 3)} AND probe_at <= $2 RETURNING id AS "id"`,
    [leaseUntil, now, JSON.stringify(endpointIds)],
  );
  return new Set(leased.map(({ id }) => id));
}

/** Maximum number of deliveries that one transaction brings forward. */
export const broughtForwardMax = 1_000;

const recoveredRows = givenRows("given", {
  endpointId: text<Id<"webhookEndpoint">>(),
  madeAfter: time(),
});

/** An endpoint that responds again, and the age of the deliveries that follow. */
export interface Recovered {
  readonly endpointId: Id<"webhookEndpoint">;
  readonly madeAfter: Instant;
}

/**
 * Makes deliveries that wait for their next attempt due now, in the order of their age, because their endpoints respond
 * again: for each endpoint those created after a time, at most `broughtForwardMax` of all. Returns their number. The attempts
 * are early ones, which their schedule does not count.
 */
export function bringForward(
  tx: Tx,
  recovered: readonly Recovered[],
  now: Instant,
): Promise<number> {
  return tx.run(
    `UPDATE webhook_deliveries SET due_at = created_at, early_attempts = early_attempts + 1
     WHERE id IN (
       SELECT d.id FROM ${recoveredRows.from(tx.dialect, 1)}
       JOIN webhook_deliveries d ON d.endpoint_id = given.endpoint_id
       WHERE d.due_at > $2 AND d.status = 'failed' AND d.created_at > given.made_after
       ORDER BY d.due_at LIMIT ${String(broughtForwardMax)}
     ) AND due_at > $2 AND status = 'failed'`,
    [recoveredRows.values(recovered), now],
  );
}

/** Ends all leases and returns their number. The tokens fence off the previous holders' results. */
export function endDeliveryLeases(tx: Tx, now: Instant): Promise<number> {
  return tx.run(
    "UPDATE webhook_deliveries SET due_at = $1 WHERE due_at > $1 AND status = 'in_progress'",
    [now],
  );
}

/** State of a claimed delivery after its attempt. */
export type FinishedDelivery = Pick<
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

const { id, leaseToken } = webhookDeliveries.columns;
const leasedRows = givenRows("given", { id, leaseToken });

/** Returns the claimed deliveries that were not claimed again in the meantime. */
export async function findStillHeld(
  reader: Reader,
  leased: readonly Pick<DeliveryRow, "id" | "leaseToken">[],
): Promise<ReadonlySet<Id<"webhookDelivery">>> {
  const held = await reader.all<{ id: Id<"webhookDelivery"> }>(
    `SELECT webhook_deliveries.id AS "id" FROM ${leasedRows.from(reader.dialect, 1)}
     JOIN webhook_deliveries ON webhook_deliveries.id = given.id
       AND webhook_deliveries.lease_token = given.lease_token`,
    [leasedRows.values(leased)],
  );
  return new Set(held.map(({ id }) => id));
}

/**
 * Stores results and returns the ids of the deliveries that were updated. A result whose lease has passed to another
 * claim changes nothing.
 */
export async function recordFinished(
  tx: Tx,
  finished: readonly FinishedDelivery[],
): Promise<ReadonlySet<Id<"webhookDelivery">>> {
  const recorded = await tx.updateManyReturning(
    webhookDeliveries,
    ["id"],
    finished.map((delivery) => ({
      where: { id: delivery.id, leaseToken: delivery.leaseToken, status: "in_progress" },
      set: {
        status: delivery.status,
        attempts: delivery.attempts,
        dueAt: delivery.dueAt,
        lastAttemptAt: delivery.lastAttemptAt,
        responseStatus: delivery.responseStatus,
        lastError: delivery.lastError,
        completedAt: delivery.completedAt,
        leaseToken: null,
      },
    })),
  );
  return new Set(recorded.map(({ id }) => id));
}

/** Maximum number of deliveries that one statement gives up. */
export const givenUpMax = 500;

/**
 * Moves unclaimed deliveries of an endpoint to the dead letters: all of them, or those created before a time. Returns
 * their number, at most `givenUpMax`; then there may be more.
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
