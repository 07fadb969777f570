import type { Migration } from "../migrate.ts";

/** Tables of the platform: leases, jobs, events, the audit log, stored responses of Idempotency-Keys. */
export const migration: Migration = {
  version: 1,
  name: "platform",
  up: (types) => [
    `CREATE TABLE meta (
      name ${types.text} NOT NULL PRIMARY KEY,
      value ${types.text} NOT NULL
    )`,
    `CREATE TABLE leases (
      name ${types.text} NOT NULL PRIMARY KEY,
      holder ${types.text} NOT NULL,
      token ${types.integer} NOT NULL,
      until ${types.time} NOT NULL
    )`,
    `CREATE TABLE cron_runs (
      task ${types.text} NOT NULL,
      scheduled_at ${types.time} NOT NULL,
      PRIMARY KEY (task, scheduled_at)
    )`,
    `CREATE TABLE jobs (
      id ${types.text} NOT NULL PRIMARY KEY,
      queue ${types.text} NOT NULL,
      name ${types.text} NOT NULL,
      payload ${types.json} NOT NULL,
      dedupe_key ${types.text},
      organization_id ${types.text},
      state ${types.text} NOT NULL CHECK (state IN ('ready', 'failed')),
      run_at ${types.time} NOT NULL,
      attempts ${types.integer} NOT NULL,
      max_attempts ${types.integer} NOT NULL,
      lease_until ${types.time},
      lease_token ${types.text},
      failed_reason ${types.text},
      failed_at ${types.time},
      created_at ${types.time} NOT NULL
    )`,
    `CREATE INDEX jobs_ready ON jobs (queue, run_at, id) WHERE state = 'ready'`,
    `CREATE UNIQUE INDEX jobs_dedupe ON jobs (queue, dedupe_key)
     WHERE state = 'ready' AND dedupe_key IS NOT NULL`,
    `CREATE INDEX jobs_failed ON jobs (queue, failed_at, id) WHERE state = 'failed'`,
    `CREATE TABLE events (
      id ${types.text} NOT NULL PRIMARY KEY,
      organization_id ${types.text},
      type ${types.text} NOT NULL,
      api_version ${types.text} NOT NULL,
      object_type ${types.text} NOT NULL,
      object_id ${types.text} NOT NULL,
      object_version ${types.integer} NOT NULL,
      payload ${types.json} NOT NULL,
      occurred_at ${types.time} NOT NULL,
      position ${types.integer}
    )`,
    `CREATE INDEX events_unpositioned ON events (id) WHERE position IS NULL`,
    `CREATE UNIQUE INDEX events_position ON events (position) WHERE position IS NOT NULL`,
    `CREATE INDEX events_organization ON events (organization_id, position) WHERE position IS NOT NULL`,
    `CREATE TABLE audit_logs (
      id ${types.text} NOT NULL PRIMARY KEY,
      organization_id ${types.text},
      actor_type ${types.text} NOT NULL,
      actor_id ${types.text},
      actor_label ${types.text} NOT NULL,
      action ${types.text} NOT NULL,
      target_type ${types.text} NOT NULL,
      target_id ${types.text} NOT NULL,
      ip ${types.text},
      request_id ${types.text},
      changes ${types.json} NOT NULL,
      position ${types.integer},
      hash ${types.text},
      created_at ${types.time} NOT NULL
    )`,
    `CREATE INDEX audit_logs_organization ON audit_logs (organization_id, id)`,
    `CREATE INDEX audit_logs_action ON audit_logs (organization_id, action, id)`,
    `CREATE INDEX audit_logs_actor ON audit_logs (organization_id, actor_id, id)`,
    `CREATE INDEX audit_logs_actor_action ON audit_logs (organization_id, actor_id, action, id) WHERE actor_id IS NOT NULL`,
    `CREATE INDEX audit_logs_platform_action ON audit_logs (action, id)`,
    `CREATE INDEX audit_logs_platform_actor ON audit_logs (actor_id, id)`,
    `CREATE INDEX audit_logs_platform_actor_action ON audit_logs (actor_id, action, id) WHERE actor_id IS NOT NULL`,
    `CREATE INDEX audit_logs_unsealed ON audit_logs (id) WHERE position IS NULL`,
    `CREATE UNIQUE INDEX audit_logs_position ON audit_logs (position) WHERE position IS NOT NULL`,
    `CREATE TABLE idempotency_keys (
      claim ${types.text} NOT NULL PRIMARY KEY,
      fingerprint ${types.text} NOT NULL,
      status ${types.integer} NOT NULL,
      body ${types.text} NOT NULL,
      is_sealed ${types.flag} NOT NULL,
      created_at ${types.time} NOT NULL
    )`,
    `CREATE INDEX idempotency_keys_created_at ON idempotency_keys (created_at)`,
    `CREATE TABLE rate_book (
      id ${types.integer} NOT NULL PRIMARY KEY CHECK (id = 1),
      pairs ${types.json} NOT NULL,
      updated_at ${types.time} NOT NULL
    )`,
    `CREATE TABLE server_probes (
      server ${types.text} NOT NULL PRIMARY KEY,
      checked_at ${types.time} NOT NULL,
      report ${types.json} NOT NULL
    )`,
  ],
};
