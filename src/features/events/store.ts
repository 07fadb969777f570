import type { Id } from "../../kernel/id.ts";
import type { Reader } from "../../platform/database/database.ts";
import { listed } from "../../platform/database/query/json-rows.ts";
import type { EventRow } from "../../platform/events/index.ts";
import type { RelayedEvent } from "../../platform/events/relay.ts";
import { events, isRemembered } from "../../platform/events/table.ts";

/** Finds an event of an organization, whether or not it was relayed, or its payload forgotten. */
export function findEvent(
  reader: Reader,
  organizationId: Id<"organization">,
  eventId: Id<"event">,
): Promise<EventRow | null> {
  return reader.findOne(events, "WHERE organization_id = $1 AND id = $2", [
    organizationId,
    eventId,
  ]);
}

/**
 * Returns an organization's events after a position, oldest first. Events without a position yet will get higher ones.
 */
export function eventsAfter(
  reader: Reader,
  organizationId: Id<"organization">,
  after: number,
  limit: number,
): Promise<RelayedEvent[]> {
  return reader.find(
    events,
    `WHERE organization_id = $1 AND position > $2 AND ${isRemembered} ORDER BY position LIMIT $3`,
    [organizationId, after, limit],
  ) as Promise<RelayedEvent[]>;
}

/** Returns events of some types between two positions, oldest first. */
export function eventsBetween(
  reader: Reader,
  organizationId: Id<"organization">,
  range: { readonly after: number; readonly through: number },
  types: readonly string[],
  limit: number,
): Promise<RelayedEvent[]> {
  return reader.find(
    events,
    `WHERE organization_id = $1 AND position > $2 AND position <= $3
     AND type IN ${listed(reader.dialect, 4)} AND ${isRemembered} ORDER BY position LIMIT $5`,
    [organizationId, range.after, range.through, JSON.stringify(types), limit],
  ) as Promise<RelayedEvent[]>;
}

/** Counts the events after a position, up to `most`, and returns the position of the last of them. */
export async function stretchAfter(
  reader: Reader,
  organizationId: Id<"organization">,
  after: number,
  most: number,
): Promise<{ readonly count: number; readonly last: number | null }> {
  const [found] = await reader.all<{ count: number; last: number | null }>(
    `SELECT COUNT(*) AS "count", MAX(position) AS "last" FROM (
       SELECT position FROM events
       WHERE organization_id = $1 AND position > $2 ORDER BY position LIMIT $3
     ) AS stretch`,
    [organizationId, after, most],
  );
  return found ?? { count: 0, last: null };
}
