import type { z } from "zod";
import { authenticated, organization } from "../../api/access.ts";
import { operationsOf } from "../../api/operation.ts";
import { eventBody, type EventRow } from "../../platform/events/index.ts";
import { EventListRecord, eventQuery, EventRecord, EventTypeListRecord } from "./records.ts";
import type { EventPage, EventService, EventTypeView } from "./service.ts";

const operation = operationsOf<EventService>();

export const eventOperations = [
  operation({
    id: "listWebhookEventTypes",
    group: "Webhooks",
    method: "GET",
    path: "/webhook-event-types",
    summary: "List the types of events",
    description: "What endpoints may choose among. docs/events.md shows what each carries.",
    access: authenticated,
    response: { status: 200, record: EventTypeListRecord },
    errors: [],
    handle: (service) => service.types(),
    present: (types: readonly EventTypeView[]) => ({
      data: types.map(({ type, description }) => ({ type, description })),
    }),
  }),
  operation({
    id: "listEvents",
    group: "Webhooks",
    method: "GET",
    path: "/organizations/{organizationId}/events",
    summary: "Read the events, oldest first",
    description:
      "For who asks instead of being called, or catches up after a break: the bodies that webhooks carry, with the event's id and without the `sequence`, which counts for one endpoint. Send `nextCursor` as `after` to go on; it stays good, and reading on never leaves an event out and never repeats one while new ones come. `types` narrows by types separated by commas; a page of some types may be empty while `hasMore` is true.",
    access: organization("organization:read"),
    request: { query: eventQuery },
    response: { status: 200, record: EventListRecord },
    errors: [],
    handle: (service, call) => service.list(call.organizationId, call.query),
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
      "The body that webhooks carry, by the id in their header `webhook-id`. 404 once the event is older than events are kept.",
    access: organization("organization:read"),
    response: { status: 200, record: EventRecord },
    errors: [],
    handle: (service, call) => service.get(call.organizationId, call.params.eventId),
    present: presentEvent,
  }),
];

function presentEvent(event: EventRow): z.input<typeof EventRecord> {
  return { id: event.id, ...eventBody(event) } as z.input<typeof EventRecord>;
}
