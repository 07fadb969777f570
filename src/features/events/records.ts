import * as z from "zod";
import { limitParameter, oneOrMore } from "../../http/declare/list.ts";
import { datetime, describeFields, id, record, responseRecord } from "../../http/declare/record.ts";
import { eventTypes } from "../../platform/events/catalogue.ts";

/** Maximum length of a cursor in a request; real ones are much shorter. */
const cursorLengthMax = 200;

export const EventRecord = responseRecord("Event", {
  id: id("event").meta({
    description:
      "The `webhook-id` header of the webhooks for this event. Clients that use both can drop duplicates by it.",
  }),
  type: z.string(),
  timestamp: datetime(),
  data: z.record(z.string(), z.unknown()).meta({
    description:
      "The object at the time of the event, and its `objectVersion`, which increases with each change.",
  }),
  apiVersion: z.string(),
  organizationId: id("organization"),
});
describeFields(EventRecord, {
  type: "The event type, such as `invoice.paid`.",
  timestamp: "Time of the event: ISO 8601, UTC.",
  apiVersion: "The version of the body's format.",
});

export const EventListRecord = record(
  "EventList",
  z.object({
    data: z.array(EventRecord),
    nextCursor: z.string().meta({
      description:
        "Cursor from which to continue, now or later. Always present, even if no new event has arrived.",
    }),
    hasMore: z.boolean().meta({ description: "Whether more events are available now." }),
  }),
);
describeFields(EventListRecord, {
  data: "The events of the page, oldest first.",
});

export const eventQuery = {
  after: z.string().max(cursorLengthMax).optional().meta({
    description:
      "The `nextCursor` of an earlier answer, which never expires, or the id of a kept event, such as the `webhook-id` of a delivery. Without it, the list starts at the oldest kept event.",
  }),
  limit: limitParameter,
  types: oneOrMore(eventTypes).optional().meta({
    description: "Event types, separated by commas. Default: all.",
  }),
};

export type EventQuery = z.output<z.ZodObject<typeof eventQuery>>;

const EventTypeRecord = responseRecord("EventType", {
  type: z.string(),
  description: z.string(),
});
describeFields(EventTypeRecord, {
  type: "The event type, such as `invoice.paid`.",
  description: "When it is sent.",
});

export const EventTypeListRecord = responseRecord("EventTypeList", {
  data: z.array(EventTypeRecord),
});
describeFields(EventTypeListRecord, {
  data: "All event types.",
});
