import type { Migration } from "../migrate.ts";

/** Webhook endpoints, deliveries and their attempts. */
export const migration: Migration = {
  version: 6,
  name: "webhooks",
  up: (types, dialect) => [
    `CREATE TABLE webhook_endpoints (
      id ${types.text} NOT NULL PRIMARY KEY,
      organization_id ${types.text} NOT NULL REFERENCES organizations (id),
      url ${types.text} NOT NULL,
      description ${types.text},
      event_types ${types.json} NOT NULL,
      status ${types.text} NOT NULL CHECK (status IN ('enabled', 'disabled')),
      disabled_reason ${types.text},
      secret ${types.text} NOT NULL,
      previous_secret ${types.text},
      previous_secret_until ${types.time},
      failing_since ${types.time},
      failing_notices ${types.integer} NOT NULL,
      first_given_up_at ${types.time},
      api_version ${types.text} NOT NULL,
      last_sequence ${types.integer} NOT NULL,
      version ${types.integer} NOT NULL,
      created_at ${types.time} NOT NULL,
      updated_at ${types.time} NOT NULL
    )`,
    `CREATE INDEX webhook_endpoints_organization ON webhook_endpoints (organization_id, id)`,
    `CREATE INDEX webhook_endpoints_overlap ON webhook_endpoints (previous_secret_until) WHERE previous_secret_until IS NOT NULL`,
    `CREATE TABLE webhook_deliveries (
      id ${types.text} NOT NULL PRIMARY KEY,
      organization_id ${types.text} NOT NULL,
      endpoint_id ${types.text} NOT NULL,
      event_id ${types.text} NOT NULL,
      event_type ${types.text} NOT NULL,
      status ${types.text} NOT NULL
        CHECK (status IN ('pending', 'in_progress', 'succeeded', 'failed', 'dead_letter')),
      sequence ${types.integer} NOT NULL,
      attempts ${types.integer} NOT NULL,
      due_at ${types.time},
      last_attempt_at ${types.time},
      lease_token ${types.text},
      response_status ${types.integer},
      last_error ${types.text},
      replay_of ${types.text},
      created_at ${types.time} NOT NULL,
      completed_at ${types.time},
      body ${types.text} NOT NULL
    )`,
    `CREATE INDEX webhook_deliveries_organization ON webhook_deliveries (organization_id, id)`,
    `CREATE INDEX webhook_deliveries_endpoint ON webhook_deliveries (organization_id, endpoint_id, id)`,
    `CREATE INDEX webhook_deliveries_endpoint_status ON webhook_deliveries (organization_id, endpoint_id, status, id)`,
    `CREATE INDEX webhook_deliveries_status ON webhook_deliveries (organization_id, status, id)`,
    `CREATE INDEX webhook_deliveries_event_type ON webhook_deliveries (organization_id, event_type, id)`,
    `CREATE INDEX webhook_deliveries_unusual ON webhook_deliveries (status, id, due_at) WHERE status <> 'succeeded'`,
    `CREATE INDEX webhook_deliveries_dead ON webhook_deliveries (completed_at, id) WHERE status = 'dead_letter'`,
    `CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, due_at, id) WHERE due_at IS NOT NULL`,
    `CREATE UNIQUE INDEX webhook_deliveries_event ON webhook_deliveries (event_id, endpoint_id) WHERE replay_of IS NULL`,
    `CREATE INDEX webhook_deliveries_replays ON webhook_deliveries (event_id, endpoint_id) WHERE replay_of IS NOT NULL`,
    `CREATE TABLE webhook_attempts (
      delivery_id ${types.text} NOT NULL,
      number ${types.integer} NOT NULL,
      started_at ${types.time} NOT NULL,
      duration_ms ${types.integer} NOT NULL,
      response_status ${types.integer},
      error_kind ${types.text},
      body_excerpt ${types.text},
      PRIMARY KEY (delivery_id, number)
    )`,
    // PostgreSQL assumes that the two conditions are independent, and would scan all rows of one for the few that match
    // both.
    ...(dialect === "postgres"
      ? [
          `CREATE STATISTICS webhook_deliveries_endpoint_and_status (mcv) ON endpoint_id, status FROM webhook_deliveries`,
        ]
      : []),
  ],
};
