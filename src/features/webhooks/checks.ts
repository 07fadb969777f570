import { day } from "../../kernel/clock.ts";
import { queryCheck, type Check } from "../../platform/database/schema/checks.ts";
import { isRemembered } from "../../platform/events/outbox.ts";

/**
 * Replays have an index of their own. One condition for both would use neither: PostgreSQL without statistics, as after a
 * restore, then reads all deliveries of the endpoint for every event.
 */
const hasNoDelivery = (replayOf: string) =>
  `AND NOT EXISTS (SELECT 1 FROM webhook_deliveries WHERE webhook_deliveries.event_id = events.id
          AND webhook_deliveries.endpoint_id = webhook_endpoints.id AND webhook_deliveries.replay_of ${replayOf})`;

export const webhookChecks: readonly Check[] = [
  queryCheck({
    name: "webhooks.delivery-due",
    describe: "A delivery has a due time if and only if it is not completed.",
    advice: "Replay the delivery with till webhook replay.",
    sql: `SELECT id AS "row", 'It is ' || status || ' and ' ||
        CASE WHEN due_at IS NULL THEN 'never due.' ELSE 'still due.' END AS fault
      FROM webhook_deliveries
      WHERE (due_at IS NULL) <> (status IN ('succeeded', 'dead_letter')) AND status <> 'in_progress'
        OR (status = 'in_progress') <> (lease_token IS NOT NULL)
      ORDER BY id`,
  }),
  queryCheck({
    name: "webhooks.sequence",
    describe: "No delivery has a sequence number above its endpoint's last one.",
    advice: "Raise the endpoint's last_sequence to this number.",
    sql: `SELECT webhook_deliveries.id AS "row",
        'Its number is ' || sequence || ' and the last is ' || last_sequence || '.' AS fault
      FROM webhook_deliveries JOIN webhook_endpoints ON webhook_endpoints.id = endpoint_id
      WHERE sequence > last_sequence ORDER BY webhook_deliveries.id`,
  }),
  queryCheck({
    name: "webhooks.every-event",
    describe:
      "Every relayed event of the last day has a delivery to each subscribed endpoint, except the one that it is about.",
    advice:
      "The endpoint missed this event. Tell its owner to fetch the object that the event names.",
    // Subscriptions before an endpoint's last change are unknown, so only later events are checked. Endpoints get no
    // events about themselves or tests of others.
    sql: `SELECT events.id AS "row", 'It has no delivery to ' || webhook_endpoints.id || '.' AS fault
      FROM events JOIN webhook_endpoints ON webhook_endpoints.organization_id = events.organization_id
        AND webhook_endpoints.created_at <= events.occurred_at
        AND webhook_endpoints.updated_at < events.occurred_at
        AND webhook_endpoints.status = 'enabled'
        AND events.object_id <> webhook_endpoints.id AND events.type <> 'webhook.ping'
        AND (webhook_endpoints.event_types = '[]' OR webhook_endpoints.event_types LIKE '%"' || events.type || '"%')
      WHERE events.position IS NOT NULL AND ${isRemembered}
        AND events.occurred_at > (SELECT MAX(latest.occurred_at) FROM events AS latest) - ${String(day)}
        ${["IS NULL", "IS NOT NULL"].map(hasNoDelivery).join("\n        ")}
      ORDER BY events.id`,
  }),
];
