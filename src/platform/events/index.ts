import type { Instant } from "../../kernel/clock.ts";
import type { IdSource } from "../../kernel/id.ts";
import type { Tx } from "../database/index.ts";
import { events } from "./table.ts";

/** The version of the events' bodies; an endpoint is pinned to the one that it was made under. */
export const eventApiVersion = "v1";

export interface NewEvent {
  /** Dotted, such as `invoice.paid`. */
  readonly type: string;
  readonly organizationId: string;
  readonly objectType: string;
  readonly objectId: string;
  /** Counts up with each change of the object, so that receivers can drop what is stale. */
  readonly objectVersion: number;
  /** The object's full wire record at this moment. It is never rendered again. */
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Outbox {
  /** Adds an event in the transaction of the change; a relay passes it on after the commit. */
  emit(tx: Tx, at: Instant, event: NewEvent): void;
}

export function createOutbox(deps: { ids: IdSource; nudge: () => void }): Outbox {
  return {
    emit(tx, at, event) {
      tx.append(events, {
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
      });
      tx.afterCommit(deps.nudge);
    },
  };
}
