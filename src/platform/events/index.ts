import { toIso, type Instant } from "../../kernel/clock.ts";
import type { IdSource } from "../../kernel/id.ts";
import type { RowOf, Tx } from "../database/index.ts";
import type { EventType } from "./catalogue.ts";
import { events } from "./table.ts";

/** The version of the event bodies; an endpoint keeps the version that it was created with. */
export const eventApiVersion = "v1";

export interface NewEvent {
  /** A type of the catalogue, such as `invoice.paid`. */
  readonly type: EventType;
  readonly organizationId: string;
  readonly objectType: string;
  readonly objectId: string;
  /** Incremented by each change of the object, so that receivers can drop stale events. */
  readonly objectVersion: number;
  /** The object's full API record at this time; it is never rendered again. */
  readonly data: Readonly<Record<string, unknown>>;
}

export type EventRow = RowOf<typeof events>;

export interface Outbox {
  /** Adds an event in the transaction of the change; the relay delivers it after the commit. */
  emit(tx: Tx, at: Instant, event: NewEvent): EventRow;
}

/** Returns the body of an event, with its fields in this order; webhooks and the events list share it. */
export function eventBody(event: Omit<EventRow, "position">) {
  return {
    type: event.type,
    timestamp: toIso(event.occurredAt),
    data: { ...event.payload, objectVersion: event.objectVersion },
    apiVersion: event.apiVersion,
    organizationId: event.organizationId,
  };
}

export function createOutbox(deps: { ids: IdSource; wake: () => void }): Outbox {
  return {
    emit(tx, at, event) {
      const row: EventRow = {
        id: deps.ids.next("event", at),
        organizationId: event.organizationId,
        type: event.type,
        apiVersion: eventApiVersion,
        objectType: event.objectType,
        objectId: event.objectId,
        objectVersion: event.objectVersion,
        payload: event.data,
        occurredAt: at,
        position: null,
      };
      tx.append(events, row);
      tx.afterCommit(deps.wake);
      return row;
    },
  };
}
