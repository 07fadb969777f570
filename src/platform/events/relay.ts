import { second, type Instant } from "../../kernel/clock.ts";
import type { Database, Reader, Tx, WriteContext } from "../database/database.ts";
import type { RowOf } from "../database/schema/table.ts";
import { skipLocked } from "../database/write/locks.ts";
import type { Worker } from "../jobs/background.ts";
import type { Leases } from "../jobs/leases.ts";
import { events } from "./table.ts";

/** An event with its position in the order of all events: consecutive, and assigned after the commit. */
export type RelayedEvent = RowOf<typeof events> & { readonly position: number };

/** Receives each event once, in the transaction that assigns the positions. */
export type Subscriber = (tx: Tx, relayed: readonly RelayedEvent[]) => Promise<void>;

/** Events per transaction. */
const batchMax = 256;
const leaseLife = 30 * second;
/** Poll interval without a wake-up, in milliseconds. */
const everyMs = 2 * second;

/**
 * Creates the relay, which assigns positions to events and hands them to the subscribers. Ids cannot serve as a cursor,
 * because transactions commit out of order; a single relay, under a lease, assigns consecutive positions after the
 * commit, and readers page by position.
 */
export function createRelay(deps: {
  readonly db: Database;
  readonly leases: Leases;
  readonly subscribers: readonly Subscriber[];
  readonly context: WriteContext;
}): Worker {
  const { db, leases, subscribers, context } = deps;
  return {
    name: "relay",
    everyMs,
    async run() {
      const [waiting] = await db.all(
        "SELECT 1 AS found FROM events WHERE position IS NULL LIMIT 1",
      );
      if (waiting === undefined) return false;
      const lease = await leases.acquire("relay", leaseLife);
      if (lease === null) return false;
      return db.write(context, async (tx) => {
        await leases.guard(tx, lease);
        const last = await lastPosition(tx);
        // Leaves out an event that another transaction is replacing: without the lock, its place would stay empty.
        const count = await tx.run(
          `UPDATE events SET position = $1 + numbered.place FROM (
             SELECT waiting.id AS id, ROW_NUMBER() OVER (ORDER BY waiting.id) AS place FROM (
               SELECT id FROM events WHERE position IS NULL ORDER BY id LIMIT ${String(batchMax)}${skipLocked[db.dialect]}
             ) AS waiting
           ) AS numbered WHERE events.id = numbered.id`,
          [last],
        );
        if (count === 0) return false;
        const relayed = await tx.find(events, "WHERE position > $1 ORDER BY position", [last]);
        for (const subscriber of subscribers) {
          await subscriber(tx, relayed as readonly RelayedEvent[]);
        }
        return count === batchMax;
      });
    },
  };
}

/** Returns the time of the oldest event that was not relayed yet; null if none waits. */
export async function oldestWaitingEvent(reader: Reader): Promise<Instant | null> {
  const [oldest] = await reader.all<{ occurredAt: Instant }>(
    'SELECT occurred_at AS "occurredAt" FROM events WHERE position IS NULL ORDER BY id LIMIT 1',
  );
  return oldest?.occurredAt ?? null;
}

/** Returns the position of the last relayed event; 0 in a store without events. */
export async function lastPosition(reader: Reader): Promise<number> {
  const [last] = await reader.all<{ position: number | null }>(
    'SELECT MAX(position) AS "position" FROM events WHERE position IS NOT NULL',
  );
  return last?.position ?? 0;
}
