import type { Instant } from "../../kernel/clock.ts";
import type { IdSource } from "../../kernel/id.ts";
import { auditLogs } from "../audit/table.ts";
import type { Tx } from "../database/index.ts";
import type { EventType } from "../events/catalogue.ts";
import { eventApiVersion, type EventRow } from "../events/index.ts";
import { events } from "../events/table.ts";

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
}

/** Creates the journal. `wake` is called after the commit of a change that raised an event. */
export function createJournal(deps: {
  readonly ids: IdSource;
  readonly wake: () => void;
}): Journal {
  const { ids, wake } = deps;
  return {
    record(
      tx,
      at,
      { organizationId, subjectType, subjectId, action, changes = {}, events: raised },
    ) {
      if (action !== undefined) {
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
      if (raised === undefined) return [];
      const rows = raised.types.map((type): EventRow => ({
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
      }));
      for (const row of rows) tx.append(events, row);
      tx.afterCommit(wake);
      return rows;
    },
  };
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
