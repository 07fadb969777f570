import type { Instant } from "../kernel/clock.ts";
import type { IdSource } from "../kernel/id.ts";
import { auditLogs } from "./audit/chain.ts";
import type { Tx } from "./database/database.ts";
import type { EventType } from "./events/catalogue.ts";
import { eventApiVersion, events, type EventRow } from "./events/outbox.ts";

/** A change: what it adds to the audit log, and the events that it raises. At least one of the two is given. */
export interface JournalEntry {
  /** Null for a change of a user alone, which only the platform sees in the audit log and which raises no event. */
  readonly organizationId: string | null;
  /** The kind of object that changed, such as `invoice`. */
  readonly subjectType: string;
  readonly subjectId: string;
  /** The action in the audit log as `noun.past_tense_verb`; absent: the change has no audit entry. */
  readonly action?: string;
  /** For the audit log: values before and after the change; never secrets. */
  readonly changes?: Readonly<Record<string, unknown>>;
  readonly events?: Announcement | undefined;
}

/** The events of one change, which share the record that they carry. */
export interface Announcement {
  /** Types of the catalogue, such as `invoice.paid`. */
  readonly types: readonly EventType[];
  /** Incremented by each change of the object, so that receivers can drop stale events. */
  readonly version: number;
  /** The object's full API record at this time; it is never rendered again. */
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Journal {
  /**
   * Records a change in the transaction that makes it: an audit entry with the actor of the transaction, and events,
   * which the relay delivers after the commit. Returns the events.
   */
  record(tx: Tx, at: Instant, entry: JournalEntry): readonly EventRow[];
  /**
   * Records the choice of an option as `record` does. If the invoice's last change is another choice, and its event has no
   * position yet, the new event replaces it and keeps its `previousStatus`: requests without a credential make any number
   * of choices, and receivers get the last one. The event of an earlier choice that has a position is superseded. Choices
   * that a credential made are not joined.
   */
  recordChoice(tx: Tx, at: Instant, entry: JournalEntry): Promise<void>;
}

/** Creates the journal. `wake` is called after the commit of a change that raised an event. */
export function createJournal(deps: {
  readonly ids: IdSource;
  readonly wake: () => void;
}): Journal {
  const { ids, wake } = deps;

  function addAuditEntry(tx: Tx, at: Instant, entry: JournalEntry): void {
    const { organizationId, subjectType, subjectId, action, changes = {} } = entry;
    if (action === undefined) return;
    const { actor, ip, requestId } = tx.context;
    tx.append(auditLogs, {
      id: ids.next("auditLog", at),
      organizationId,
      actorType: actor.type,
      actorId: actor.id,
      actorLabel: actor.label,
      action,
      targetType: subjectType,
      targetId: subjectId,
      ip,
      requestId,
      changes,
      position: null,
      hash: null,
      createdAt: at,
    });
  }

  function eventsOf(at: Instant, entry: JournalEntry): readonly EventRow[] {
    const { organizationId, subjectType, subjectId, events: raised } = entry;
    if (raised === undefined) return [];
    return raised.types.map((type) => ({
      id: ids.next("event", at),
      organizationId,
      type,
      apiVersion: eventApiVersion,
      objectType: subjectType,
      objectId: subjectId,
      objectVersion: raised.version,
      payload: raised.data,
      occurredAt: at,
      position: null,
      supersededAt: null,
    }));
  }

  const record: Journal["record"] = (tx, at, entry) => {
    addAuditEntry(tx, at, entry);
    const rows = eventsOf(at, entry);
    for (const row of rows) tx.append(events, row);
    if (rows.length > 0) tx.afterCommit(wake);
    return rows;
  };

  return {
    record,

    async recordChoice(tx, at, entry) {
      if (tx.context.actor.type !== "system") {
        record(tx, at, entry);
        return;
      }
      addAuditEntry(tx, at, entry);
      for (const row of eventsOf(at, entry)) {
        const previousStatus = await supersede(tx, row);
        const { payload } = row;
        // Not appended, so that the next write that shares the commit finds it.
        await tx.insert(events, {
          ...row,
          payload: previousStatus === undefined ? payload : { ...payload, previousStatus },
        });
      }
      tx.afterCommit(wake);
    },
  };
}

/** The condition of the index of choices, which have one newest event for each invoice. */
const newestChoice = "object_id = $1 AND type = 'invoice.option_chosen' AND superseded_at IS NULL";

/**
 * Deletes the event of the choice before, if nothing else changed the invoice since and the relay has not reached it, and
 * returns its `previousStatus`. Marks the event of any other earlier choice.
 */
async function supersede(
  tx: Tx,
  { objectId, objectVersion, occurredAt }: EventRow,
): Promise<unknown> {
  const [joined] = await tx.all<{ payload: string }>(
    `DELETE FROM events WHERE ${newestChoice} AND position IS NULL AND object_version = $2
     RETURNING payload AS "payload"`,
    [objectId, objectVersion - 1],
  );
  if (joined !== undefined) {
    return (JSON.parse(joined.payload) as EventRow["payload"])["previousStatus"];
  }
  // An event that still waits is left alone: the relay would pass over it meanwhile, and take a later event first.
  await tx.run(
    `UPDATE events SET superseded_at = $2 WHERE ${newestChoice} AND position IS NOT NULL`,
    [objectId, occurredAt],
  );
  return undefined;
}

/** Returns the fields of `after` that differ from `before`, each with both values; without the number of changes. */
export function difference(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): Record<string, { from: unknown; to: unknown }> {
  return Object.fromEntries(
    Object.entries(after)
      .filter(([name, value]) => name !== "objectVersion" && !isSame(before[name], value))
      .map(([name, value]) => [name, { from: before[name] ?? null, to: value }]),
  );
}

function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  const areObjects = typeof one === "object" && typeof other === "object";
  return areObjects && JSON.stringify(one) === JSON.stringify(other);
}
