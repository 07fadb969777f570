import { day, type Instant } from "../../kernel/clock.ts";
import type { Database, WriteContext } from "../database/database.ts";

/**
 * How long relayed events are kept, in milliseconds, for readers of the events list. Deliveries store their own bodies.
 */
export const eventKeptFor = 90 * day;
/** Rows deleted per transaction. */
const pruneBatch = 1_000;

/**
 * Deletes relayed events that have passed their retention, oldest first. Returns true if there may be more. The newest
 * event is kept, because the next position follows it.
 */
export async function pruneEvents(
  db: Database,
  now: Instant,
  context: WriteContext,
): Promise<boolean> {
  const past = await db.all<{ position: number }>(
    `SELECT position AS "position" FROM events
     WHERE position < (SELECT MAX(position) FROM events) AND occurred_at < $1
     ORDER BY position LIMIT ${String(pruneBatch)}`,
    [now - eventKeptFor],
  );
  const last = past.at(-1);
  if (last === undefined) return false;
  await db.write(context, (tx) =>
    tx.run("DELETE FROM events WHERE position <= $1 AND occurred_at < $2", [
      last.position,
      now - eventKeptFor,
    ]),
  );
  return past.length === pruneBatch;
}
