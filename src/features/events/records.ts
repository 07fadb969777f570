import { z } from "zod";
import { limitParameter } from "../../api/list.ts";
import { datetime, id, record, responseRecord } from "../../api/record.ts";
import { eventTypes } from "../../platform/events/catalogue.ts";

/** The longest text of a cursor; ours are far shorter. */
const cursorLengthMax = 200;
/** Room for every type, separated by commas. */
const typesLengthMax = eventTypes.join(",").length;

export const EventRecord = responseRecord("Event", {
  id: id("event").meta({
    description: "The `webhook-id` under which webhooks tell of it: who listens to both drops one.",
  }),
  type: z.string(),
  timestamp: datetime(),
  data: z.record(z.string(), z.unknown()).meta({
    description:
      "The object as it was then, and its `objectVersion`, which counts up with each change.",
  }),
  apiVersion: z.string(),
  organizationId: id("organization"),
});

export const EventListRecord = record(
  "EventList",
  z.object({
    data: z.array(EventRecord),
    nextCursor: z.string().meta({
      description:
        "Where to go on, now or later: always there, whether or not anything has come yet.",
    }),
    hasMore: z.boolean().meta({ description: "Whether more can be read already." }),
  }),
);

export const eventQuery = {
  after: z.string().max(cursorLengthMax).optional(),
  limit: limitParameter,
  types: z.string().max(typesLengthMax).optional(),
};

export const EventTypeRecord = responseRecord("EventType", {
  type: z.string(),
  description: z.string(),
});

export const EventTypeListRecord = responseRecord("EventTypeList", {
  data: z.array(EventTypeRecord),
});
