import { day, type Instant } from "../../../kernel/clock.ts";
import { idFloor, type Id } from "../../../kernel/id.ts";
import type { Database, WriteContext } from "../../../platform/database/database.ts";
import { listed } from "../../../platform/database/query/json-rows.ts";
import { deliveryLifeMax, restAskedMax, retryDelayMax } from "./retry-policy.ts";
import { webhookEndpoints } from "../table.ts";

/** How long a successful delivery is kept, with its body and attempts. */
export const deliveryKeptFor = 90 * day;
/** How long a dead letter is kept for a replay. Its attempts are deleted with those of other deliveries. */
export const deadLetterKeptFor = 180 * day;
/** How long the event of a superseded choice, and its deliveries, are remembered. */
const supersededKeptFor = day;
/** Maximum number of rows read in one transaction. */
const pruneBatch = 1_000;

interface Past {
  readonly id: Id<"webhookDelivery">;
  readonly status: string;
  readonly dueAt: Instant | null;
}

/**
 * Deletes expired deliveries and attempts, oldest first, one batch per transaction. Ids begin with their creation time,
 * so the primary key is the only index needed. Returns false: nothing that has expired is left, unless the signal ended
 * it.
 */
export async function pruneDeliveries(
  db: Database,
  now: Instant,
  context: WriteContext,
  signal: AbortSignal,
): Promise<boolean> {
  // About the longest time from a delivery's creation to its last attempt.
  const until = idFloor("webhookDelivery", now - deliveryKeptFor - deliveryLifeMax);
  const deadUntil = idFloor("webhookDelivery", now - deadLetterKeptFor - deliveryLifeMax);
  let after = idFloor("webhookDelivery", 0);
  while (!signal.aborted) {
    const past = await db.all<Past>(
      `SELECT id AS "id", status AS "status", due_at AS "dueAt" FROM webhook_deliveries
       WHERE id > $1 AND id < $2 ORDER BY id LIMIT ${String(pruneBatch)}`,
      [after, until],
    );
    const last = past.at(-1);
    if (last === undefined) break;
    const over = past.filter(
      ({ id, status, dueAt }) => dueAt === null && (status !== "dead_letter" || id < deadUntil),
    );
    const ids = JSON.stringify(over.map(({ id }) => id));
    if (over.length > 0) {
      await db.write(context, (tx) =>
        tx.run(`DELETE FROM webhook_deliveries WHERE id IN ${listed(tx.dialect, 1)}`, [ids]),
      );
    }
    after = last.id;
  }
  await pruneAttempts(db, until, context, signal);
  return false;
}

async function pruneAttempts(
  db: Database,
  until: Id<"webhookDelivery">,
  context: WriteContext,
  signal: AbortSignal,
): Promise<void> {
  let isMore = true;
  while (isMore && !signal.aborted) {
    const past = await db.all<{ id: Id<"webhookDelivery"> }>(
      `SELECT delivery_id AS "id" FROM webhook_attempts WHERE delivery_id < $1
       ORDER BY delivery_id, number LIMIT ${String(pruneBatch)}`,
      [until],
    );
    const ids = JSON.stringify([...new Set(past.map(({ id }) => id))]);
    if (past.length > 0) {
      await db.write(context, (tx) =>
        tx.run(`DELETE FROM webhook_attempts WHERE delivery_id IN ${listed(tx.dialect, 1)}`, [ids]),
      );
    }
    isMore = past.length === pruneBatch;
  }
}

/**
 * Makes deliveries and lone attempts due whose due time is further ahead than any retry: it is from a clock that was set
 * back since. Returns false: one statement each changes all of them, which are few.
 */
export async function mendDueTimes(
  db: Database,
  now: Instant,
  context: WriteContext,
): Promise<boolean> {
  await db.write(context, async (tx) => {
    await tx.run("UPDATE webhook_endpoints SET probe_at = $1 WHERE probe_at > $2", [
      now,
      now + restAskedMax,
    ]);
    await tx.run(
      `UPDATE webhook_deliveries SET due_at = $1
       WHERE status <> 'succeeded' AND status IN ('pending', 'in_progress', 'failed') AND due_at > $2`,
      [now, now + retryDelayMax],
    );
  });
  return false;
}

/** Deletes expired old secrets, although encrypted, one batch per transaction; returns whether there may be more. */
export async function wipeOldSecrets(
  db: Database,
  now: Instant,
  context: WriteContext,
): Promise<boolean> {
  const past = await db.all<{ id: Id<"webhookEndpoint"> }>(
    `SELECT id AS "id" FROM webhook_endpoints
     WHERE previous_secret_until IS NOT NULL AND previous_secret_until <= $1
     ORDER BY previous_secret_until LIMIT ${String(pruneBatch)}`,
    [now],
  );
  if (past.length === 0) return false;
  await db.write(context, async (tx) => {
    const ids = JSON.stringify(past.map(({ id }) => id));
    // If the secret was rotated again in the meantime, the endpoint has another old secret.
    const over = `id IN ${listed(tx.dialect, 1)} AND previous_secret_until <= $2`;
    await tx.lock(webhookEndpoints, `WHERE ${over} ORDER BY id`, [ids, now]);
    await tx.run(
      `UPDATE webhook_endpoints SET previous_secret = NULL, previous_secret_until = NULL WHERE ${over}`,
      [ids, now],
    );
  });
  return past.length === pruneBatch;
}

/**
 * Forgets the payloads of a batch of superseded events, and their deliveries that have succeeded; returns true if there
 * may be more. The rows of the events stay: their positions are consecutive, and readers of the list go on from them.
 */
export async function forgetSuperseded(
  db: Database,
  now: Instant,
  context: WriteContext,
): Promise<boolean> {
  const past = await db.all<{ id: Id<"event"> }>(
    `SELECT id AS "id" FROM events
     WHERE superseded_at IS NOT NULL AND payload <> '{}' AND superseded_at < $1
     ORDER BY superseded_at LIMIT ${String(pruneBatch)}`,
    [now - supersededKeptFor],
  );
  if (past.length === 0) return false;
  await db.write(context, async (tx) => {
    const ids = JSON.stringify(past.map(({ id }) => id));
    const events = listed(tx.dialect, 1);
    const deliveries = `FROM webhook_deliveries
      WHERE event_id IN ${events} AND replay_of IS NULL AND status = 'succeeded' AND due_at IS NULL`;
    await tx.run(`DELETE FROM webhook_attempts WHERE delivery_id IN (SELECT id ${deliveries})`, [
      ids,
    ]);
    await tx.run(`DELETE ${deliveries}`, [ids]);
    await tx.run(`UPDATE events SET payload = '{}' WHERE id IN ${events}`, [ids]);
  });
  return past.length === pruneBatch;
}
