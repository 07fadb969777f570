import { toIso } from "../../kernel/clock.ts";
import type { RowOf } from "../database/schema/table.ts";
import type { events } from "./table.ts";

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
