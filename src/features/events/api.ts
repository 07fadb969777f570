import type { z } from "zod";
import { authenticated, organization } from "../../http/declare/permissions.ts";
import type { FeatureModule } from "../../http/declare/feature-module.ts";
import { operation } from "../../http/declare/operation.ts";
import { eventBody, type EventRow } from "../../platform/events/outbox.ts";
import {
  getEvent,
  listEvents,
  listEventTypes,
  type EventPage,
  type EventTypeView,
} from "./events.ts";
import { EventListRecord, eventQuery, EventRecord, EventTypeListRecord } from "./records.ts";

export const eventOperations = [
  operation({
    id: "listWebhookEventTypes",
    group: "Webhooks",
    method: "GET",
    path: "/webhook-event-types",
    summary: "List the event types",
    description:
      "The event types that endpoints can subscribe to, with their meaning. The page of events in the manual names their records.",
    access: authenticated("events:read"),
    response: { status: 200, record: EventTypeListRecord },
    errors: [],
    handle: () => Promise.resolve(listEventTypes()),
    present: (types: readonly EventTypeView[]) => ({
      data: types.map(({ type, description }) => ({ type, description })),
    }),
  }),
  operation({
    id: "listEvents",
    group: "Webhooks",
    method: "GET",
    path: "/organizations/{organizationId}/events",
    summary: "List events, oldest first",
    description:
      "For clients that poll instead of receiving webhooks, or that catch up after a break. Items have the body of the webhook without `sequence`, which counts per endpoint. To continue, send `nextCursor` as `after`; to begin behind an event that you have, send its id. A cursor does not expire, unless the operator restores a backup from before it, and an event's id does when the event is deleted after 90 days. The error then has the code `outdated_cursor`: start again without `after`, and skip the ids that you have. Reading on never skips or repeats an event, even while new ones arrive. `types` filters by types, separated by commas; a filtered page may be empty while `hasMore` is true.",
    access: organization("events:read"),
    request: { query: eventQuery },
    response: { status: 200, record: EventListRecord },
    errors: [],
    handle: (app, call) => listEvents(app, call.organizationId, call.query),
    present: ({ data, nextCursor, hasMore }: EventPage) => ({
      data: data.map(presentEvent),
      nextCursor,
      hasMore,
    }),
  }),
  operation({
    id: "getEvent",
    group: "Webhooks",
    method: "GET",
    path: "/organizations/{organizationId}/events/{eventId}",
    summary: "Get an event",
    description:
      "The body of the webhook, found by the id in its `webhook-id` header. 404 once the retention time of events has passed.",
    access: organization("events:read"),
    response: { status: 200, record: EventRecord },
    errors: [],
    handle: (app, call) => getEvent(app, call.organizationId, call.params.eventId),
    present: presentEvent,
  }),
];

function presentEvent(event: EventRow): z.input<typeof EventRecord> {
  return eventBody(event) as z.input<typeof EventRecord>;
}

export const eventsModule: FeatureModule = {
  operations: eventOperations,
};
