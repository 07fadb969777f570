import { day } from "../../kernel/clock.ts";
import { queryCheck, type Check } from "../../platform/database/checks.ts";

export const webhookChecks: readonly Check[] = [
  queryCheck({
    name: "webhooks.delivery-due",
    describe: "A delivery is due exactly while it is not over.",
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
    describe: "No delivery has a number above the last that its endpoint has given.",
    advice: "Raise the endpoint's last_sequence to the number.",
    sql: `SELECT webhook_deliveries.id AS "row",
        'Its number is ' || sequence || ' and the last is ' || last_sequence || '.' AS fault
      FROM webhook_deliveries JOIN webhook_endpoints ON webhook_endpoints.id = endpoint_id
      WHERE sequence > last_sequence ORDER BY webhook_deliveries.id`,
  }),
  queryCheck({
    name: "webhooks.every-event",
    describe:
      "Every event of the last day that was passed on has a delivery to each endpoint but the one it is about.",
    advice: "The event was taken from an endpoint: tell its receiver to read what it names.",
    // What an endpoint asked for before it was changed is not known any more. It is never told of itself, nor of the
    // test of another.
    sql: `SELECT events.id AS "row", 'It has no delivery to ' || webhook_endpoints.id || '.' AS fault
      FROM events JOIN webhook_endpoints ON webhook_endpoints.organization_id = events.organization_id
        AND webhook_endpoints.created_at <= events.occurred_at
        AND webhook_endpoints.updated_at < events.occurred_at
        AND webhook_endpoints.status = 'enabled'
        AND events.object_id <> webhook_endpoints.id AND events.type <> 'webhook.ping'
        AND (webhook_endpoints.event_types = '[]' OR webhook_endpoints.event_types LIKE '%"' || events.type || '"%')
      WHERE events.position IS NOT NULL
        AND events.occurred_at > (SELECT MAX(latest.occurred_at) FROM events AS latest) - ${String(day)}
        AND NOT EXISTS (
          SELECT 1 FROM webhook_deliveries
          WHERE webhook_deliveries.event_id = events.id AND webhook_deliveries.endpoint_id = webhook_endpoints.id
        )
      ORDER BY events.id`,
  }),
];
