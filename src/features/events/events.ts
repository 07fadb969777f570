import { perApp, type App } from "../../app.ts";
import { day } from "../../kernel/clock.ts";
import { invalidField, notFound } from "../../kernel/errors.ts";
import { idPattern, type Id } from "../../kernel/id.ts";
import { parsePage } from "../../kernel/page.ts";
import type { Reader } from "../../platform/database/database.ts";
import { listed } from "../../platform/database/query/json-rows.ts";
import { eventCatalogue, type EventType } from "../../platform/events/catalogue.ts";
import {
  eventKeptFor,
  events,
  isRemembered,
  type EventRow,
  type RelayedEvent,
} from "../../platform/events/outbox.ts";
import { readRestores, type RestoreRecord } from "../../platform/backup/history.ts";
import { open, seal, SealBroken } from "../../platform/secrets/encryption.ts";
import { deriveKey } from "../../platform/secrets/server-secret.ts";
import type { EventQuery } from "./records.ts";

/** Maximum number of events that a request with a type filter scans. */
const stretchMax = 1_000;

export interface EventPage {
  readonly data: readonly RelayedEvent[];
  readonly nextCursor: string;
  readonly hasMore: boolean;
}

export interface EventTypeView {
  readonly type: EventType;
  readonly description: string;
}

/** Positions count the events of all organizations, so cursors are encrypted: a client can neither infer others' activity nor forge a cursor. */
const cursorKey = perApp(({ secret }) => deriveKey(secret, "event-cursors"));

/** Reads the restores once, because a restore needs stopped servers; again after a failure. */
const cursorEpochs = perApp(({ db }) => {
  let known: Promise<CursorEpochs> | null = null;
  return () => {
    known ??= readRestores(db).then(epochsAfter);
    return known.catch((error: unknown) => {
      known = null;
      throw error;
    });
  };
});

/**
 * Returns an organization's events, oldest first, each once. They are ordered by the position that the relay assigns
 * after the commit, so no event ever appears before a position that was already read. A page filtered by type may be
 * empty although there are more.
 */
export async function listEvents(
  app: App,
  organizationId: Id<"organization">,
  query: EventQuery,
): Promise<EventPage> {
  const { db } = app;
  const { limit } = parsePage({ limit: query.limit }, "events");
  const types = query.types ?? null;
  const key = cursorKey(app);
  const current = await cursorEpochs(app)();
  const { after: given } = query;
  const isEvent = given !== undefined && idPattern("event").test(given);
  let after = 0;
  if (isEvent) {
    const position = await positionOfEvent(db, organizationId, given as Id<"event">);
    // Nothing follows an event that the relay has not reached yet.
    if (position === null) return { data: [], nextCursor: given, hasMore: false };
    after = position;
  } else if (given !== undefined) after = positionOf(key, organizationId, given, current);
  const { data, last, hasMore } = await read(db, organizationId, after, limit, types);
  // Returns the same cursor until an event arrives, so that pollers get 304; in place of an event's id, which
  // expires with the event, a cursor.
  const isSame = given !== undefined && !isEvent && last === after;
  const nextCursor = isSame ? given : sealed(key, organizationId, last, current);
  return { data, nextCursor, hasMore };
}

/** Returns one event; 404 if it does not exist, belongs to another organization or has passed its retention time. */
export async function getEvent(
  { db }: App,
  organizationId: Id<"organization">,
  eventId: Id<"event">,
): Promise<EventRow> {
  const event = await findEvent(db, organizationId, eventId);
  if (event === null || isForgotten(event)) throw notFound();
  return event;
}

/** Returns every event type with its meaning. */
export function listEventTypes(): readonly EventTypeView[] {
  return everyType;
}

/** Whether a payer chose again a day ago or earlier: the row keeps its position, by which readers go on, and no more. */
function isForgotten({ supersededAt, payload }: EventRow): boolean {
  return supersededAt !== null && Object.keys(payload).length === 0;
}

/** Returns the cursor of a position. */
function sealed(
  cursorKey: Uint8Array,
  organizationId: Id<"organization">,
  position: number,
  current: CursorEpochs,
): string {
  return seal(cursorKey, current.format(position), sealLabelOf(organizationId));
}

/** Returns the position of an event, null while the relay has not assigned it; 400 if the event is not kept. */
async function positionOfEvent(
  db: Reader,
  organizationId: Id<"organization">,
  eventId: Id<"event">,
): Promise<number | null> {
  const event = await findEvent(db, organizationId, eventId);
  if (event !== null) return event.position;
  throw invalidField(
    { parameter: "after" },
    "outdated_cursor",
    `must be the id of an event that is still kept: events are kept for ${String(eventKeptFor / day)} days, and a restored backup lacks later ones; omit it to start at the oldest event, and skip ids that you know`,
  );
}

/** Returns the position of a cursor; 400 if it is another organization's, or of the time before a restore. */
function positionOf(
  cursorKey: Uint8Array,
  organizationId: Id<"organization">,
  cursor: string,
  current: CursorEpochs,
): number {
  let text: string;
  try {
    text = open(cursorKey, cursor, sealLabelOf(organizationId));
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error;
    throw invalidField(
      { parameter: "after" },
      "invalid_cursor",
      "must be the nextCursor of this organization's events, or the id of one of them; omit it to start at the oldest event",
    );
  }
  const { position, outdated } = current.parse(text);
  if (outdated === null) return position;
  const remedy =
    outdated.shared === null
      ? "omit it to start at the oldest event, and skip ids that you know"
      : `continue with ${sealed(cursorKey, organizationId, outdated.shared, current)}, where the backup ends`;
  throw invalidField(
    { parameter: "after" },
    "outdated_cursor",
    `must be replaced, because the store was restored from a backup of ${outdated.backupCreatedAt} and later events are lost: ${remedy}`,
  );
}

async function read(
  db: Reader,
  organizationId: Id<"organization">,
  after: number,
  limit: number,
  types: readonly EventType[] | null,
): Promise<{ data: readonly RelayedEvent[]; last: number; hasMore: boolean }> {
  const stretch = types && (await stretchAfter(db, organizationId, after, stretchMax));
  const rows =
    types === null
      ? await eventsAfter(db, organizationId, after, limit + 1)
      : await eventsBetween(
          db,
          organizationId,
          { after, through: stretch?.last ?? after },
          types,
          limit + 1,
        );
  const data = rows.slice(0, limit);
  const isFull = rows.length > limit;
  // Scanned events of other types are not scanned again.
  const end = isFull || stretch === null ? data.at(-1)?.position : stretch.last;
  return { data, last: end ?? after, hasMore: isFull || stretch?.count === stretchMax };
}

const everyType = Object.values(eventCatalogue)
  .flatMap((group) => Object.entries(group))
  .map(([type, description]) => ({ type: type as EventType, description }));

function sealLabelOf(organizationId: Id<"organization">): string {
  return `events:${organizationId}`;
}

/**
 * Positions of events are assigned again after a restore, so a cursor also names the last restore before it: `120` in a
 * store that never was restored, else `120:rst_…`.
 */
interface CursorEpochs {
  format(position: number): string;
  parse(text: string): { readonly position: number; readonly outdated: OutdatedCursor | null };
}

/** A cursor behind events that a restore has lost. */
interface OutdatedCursor {
  /** The last position that the cursor's store and this one have in common; null if that is unknown. */
  readonly shared: number | null;
  /** ISO 8601. */
  readonly backupCreatedAt: string;
}

/** @param restores those in the history of the store, oldest first */
export function epochsAfter(restores: readonly RestoreRecord[]): CursorEpochs {
  const last = restores.at(-1);
  return {
    format: (position) => [String(position), ...(last === undefined ? [] : [last.id])].join(":"),
    parse(text) {
      const [digits, epoch = null] = text.split(":");
      const position = Number(digits);
      const index = restores.findIndex(({ id }) => id === epoch);
      if (last === undefined) return { position, outdated: null };
      const { backupCreatedAt } = last;
      // A restore of which the backup knows nothing: its events may differ from the first one on.
      if (epoch !== null && index === -1) {
        return { position, outdated: { shared: null, backupCreatedAt } };
      }
      const since = restores.slice(index + 1).map(({ eventPosition }) => eventPosition);
      // Without a restore since, it is infinite.
      const shared = Math.min(...since);
      return { position, outdated: position <= shared ? null : { shared, backupCreatedAt } };
    },
  };
}

/** Finds an event of an organization, whether or not it was relayed, or its payload forgotten. */
function findEvent(
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
function eventsAfter(
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
function eventsBetween(
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
async function stretchAfter(
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
