import { invalidField, notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { parsePage } from "../../kernel/page.ts";
import type { Database } from "../../platform/database/index.ts";
import { eventCatalogue, eventTypes, type EventType } from "../../platform/events/catalogue.ts";
import type { EventRow } from "../../platform/events/index.ts";
import type { RelayedEvent } from "../../platform/events/relay.ts";
import { open, seal, SealBroken } from "../../platform/secrets/encryption.ts";
import { eventsAfter, eventsBetween, findEvent, stretchAfter } from "./store.ts";

/** Events that one request for some types looks through. */
const stretchMax = 1_000;

export interface EventQuery {
  /** The nextCursor of an earlier answer; without it, from the oldest event that is kept. */
  readonly after?: string | undefined;
  /** 1 to 100; 20 unless told. */
  readonly limit?: string | number | undefined;
  /** Names of types separated by commas; all without it. */
  readonly types?: string | undefined;
}

export interface EventPage {
  readonly data: readonly RelayedEvent[];
  readonly nextCursor: string;
  readonly hasMore: boolean;
}

export interface EventTypeView {
  readonly type: EventType;
  readonly description: string;
}

export interface EventService {
  /**
   * An organization's events, the oldest first, each once: they are read by the position that the relay gives after
   * the commit, in one order for all, so that none shows up behind what was read already. A page of some types may be
   * empty while there is more.
   */
  list(organizationId: Id<"organization">, query: EventQuery): Promise<EventPage>;
  /** One event. 404 for one that is not there, not the organization's, or older than events are kept. */
  get(organizationId: Id<"organization">, eventId: Id<"event">): Promise<EventRow>;
  /** Every type that there is, with what it means. */
  types(): Promise<readonly EventTypeView[]>;
}

/**
 * `cursorKey` is 32 bytes made for this purpose alone. Positions count the events of everybody, so a cursor is sealed:
 * nobody reads off it how much others do, nor makes one up.
 */
export function makeEventService(deps: {
  readonly db: Database;
  readonly cursorKey: Uint8Array;
}): EventService {
  const { db, cursorKey } = deps;

  function positionOf(organizationId: Id<"organization">, cursor: string): number {
    try {
      return Number(open(cursorKey, cursor, placeOf(organizationId)));
    } catch (error) {
      if (!(error instanceof SealBroken)) throw error;
      throw invalidField(
        { parameter: "after" },
        "invalid_cursor",
        "must be the nextCursor of this organization's events; leave it out to start at the oldest",
      );
    }
  }

  async function read(
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
    // What was looked through and is of other types is not looked at again.
    const end = isFull || stretch === null ? data.at(-1)?.position : stretch.last;
    return { data, last: end ?? after, hasMore: isFull || stretch?.count === stretchMax };
  }

  return {
    async list(organizationId, query) {
      const { limit } = parsePage({ limit: query.limit }, "events");
      const types = query.types === undefined ? null : readTypes(query.types);
      const after = query.after === undefined ? 0 : positionOf(organizationId, query.after);
      const { data, last, hasMore } = await read(organizationId, after, limit, types);
      // The same answer while nothing comes, so that who asks again and again is told 304.
      const nextCursor =
        query.after !== undefined && last === after
          ? query.after
          : seal(cursorKey, String(last), placeOf(organizationId));
      return { data, nextCursor, hasMore };
    },

    async get(organizationId, eventId) {
      const event = await findEvent(db, organizationId, eventId);
      if (event === null) throw notFound();
      return event;
    },

    types: () => Promise.resolve(everyType),
  };
}

const everyType = Object.values(eventCatalogue)
  .flatMap((group) => Object.entries(group))
  .map(([type, description]) => ({ type: type as EventType, description }));

function placeOf(organizationId: Id<"organization">): string {
  return `events:${organizationId}`;
}

function readTypes(given: string): readonly EventType[] {
  const known: readonly string[] = eventTypes;
  const types = [...new Set(given.split(","))];
  if (types.every((type) => known.includes(type))) return types as EventType[];
  throw invalidField(
    { parameter: "types" },
    "invalid_value",
    "must be types of events that Till knows, separated by commas; GET /v1/webhook-event-types lists them",
  );
}
