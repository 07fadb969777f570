import { day, second, toIso, type Instant } from "../../kernel/clock.ts";
import type { Database, Reader, Tx, WriteContext } from "../database/database.ts";
import { queryCheck, type Check } from "../database/schema/checks.ts";
import { integer, json, table, text, time, type RowOf } from "../database/schema/table.ts";
import { skipLocked } from "../database/write/locks.ts";
import type { Worker } from "../jobs/background.ts";
import type { Leases } from "../jobs/leases.ts";

/** The outbox. A row is written in the transaction of the change; only its position is updated later. */
export const events = table(
  "events",
  {
    id: text(),
    organizationId: text().nullable(),
    type: text(),
    apiVersion: text(),
    objectType: text(),
    objectId: text(),
    objectVersion: integer(),
    payload: json<Readonly<Record<string, unknown>>>(),
    occurredAt: time(),
    /** Consecutive, in relay order; null until the relay assigns it. */
    position: integer().nullable(),
    /**
     * When a payer's later choice replaced the one that the event is about; null for all others. A day later the payload is
     * forgotten: the row, whose payload is empty then, keeps its position.
     */
    supersededAt: time().nullable(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      { name: "events_unpositioned", columns: ["id"], where: "position IS NULL" },
      {
        name: "events_position",
        columns: ["position"],
        unique: true,
        where: "position IS NOT NULL",
      },
      {
        name: "events_organization",
        columns: ["organizationId", "position"],
        where: "position IS NOT NULL",
      },
      {
        name: "events_newest_choice",
        columns: ["objectId"],
        where: "type = 'invoice.option_chosen' AND superseded_at IS NULL",
      },
      {
        name: "events_superseded",
        columns: ["supersededAt"],
        where: "superseded_at IS NOT NULL AND payload <> '{}'",
      },
      { name: "events_audit_heads", columns: ["id"], where: "type = 'audit.head'" },
    ],
  },
);

/** SQL for whether the payload of an event was not forgotten. */
export const isRemembered = "(superseded_at IS NULL OR payload <> '{}')";

export const eventChecks: readonly Check[] = [
  queryCheck({
    name: "events.dense-positions",
    describe: "Relayed events have consecutive positions.",
    advice: "An event was removed from the store by hand: look for it in a backup.",
    // Old events may be deleted, so counting starts at the first one left.
    sql: `SELECT events.id AS "row", 'No event has the position before its own, ' || events.position || '.' AS fault
      FROM events
      WHERE events.position > (SELECT MIN(first.position) FROM events AS first WHERE first.position IS NOT NULL)
        AND NOT EXISTS (SELECT 1 FROM events AS before WHERE before.position = events.position - 1)
      ORDER BY events.position`,
  }),
];

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
        // Leaves out an event that another transaction is replacing: without the lock, its position would stay empty.
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

/** The version of the event bodies; an endpoint keeps the version that it was created with. */
export const eventApiVersion = "v1";

export type EventRow = RowOf<typeof events>;

/** Returns the body of an event, with its fields in this order; webhooks and the events list share it. */
export function eventBody(event: Omit<EventRow, "position" | "supersededAt">) {
  return {
    id: event.id,
    type: event.type,
    timestamp: toIso(event.occurredAt),
    data: { ...event.payload, objectVersion: event.objectVersion },
    apiVersion: event.apiVersion,
    organizationId: event.organizationId,
  };
}
