import { day, type Instant } from "../../kernel/clock.ts";
import { idFloor, type Id } from "../../kernel/id.ts";
import type { Database, WriteContext } from "../../platform/database/index.ts";
import { listed } from "../../platform/database/json-rows.ts";
import { deliveryLifeMax } from "./rules.ts";
import { webhookEndpoints } from "./table.ts";

/** How long a delivery that arrived is kept, with what was sent and its attempts. */
export const deliveryKeptFor = 90 * day;
/** How long a dead letter is kept, to be replayed. Its attempts go with the others. */
export const deadLetterKeptFor = 180 * day;
/** Rows that one transaction looks at. */
const pruneBatch = 1_000;

interface Past {
  readonly id: Id<"webhookDelivery">;
  readonly status: string;
  readonly dueAt: Instant | null;
}

/**
 * Forgets deliveries and attempts whose time is over, from the oldest on, a batch to a transaction. Ids begin with the
 * time at which they were made, so that no index but the primary key is needed.
 */
export async function pruneDeliveries(
  db: Database,
  now: Instant,
  context: WriteContext,
  signal: AbortSignal,
): Promise<void> {
  // The last attempt may come so much later than the delivery was made.
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

/** Forgets old secrets that sign no more, even sealed, a batch to a transaction; gives whether there may be more. */
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
    // Rotated again meanwhile, an endpoint has another old secret.
    const over = `id IN ${listed(tx.dialect, 1)} AND previous_secret_until <= $2`;
    await tx.lock(webhookEndpoints, `WHERE ${over} ORDER BY id`, [ids, now]);
    await tx.run(
      `UPDATE webhook_endpoints SET previous_secret = NULL, previous_secret_until = NULL WHERE ${over}`,
      [ids, now],
    );
  });
  return past.length === pruneBatch;
}
