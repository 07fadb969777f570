import type { Migration } from "../migrate.ts";

/** Pauses of webhook endpoints, and attempts ahead of a delivery's schedule, which do not count. */
export const migration: Migration = {
  version: 34,
  name: "paused endpoints",
  up: (types) => [
    `ALTER TABLE webhook_endpoints ADD COLUMN paused_since ${types.time}`,
    `ALTER TABLE webhook_endpoints ADD COLUMN probe_at ${types.time}`,
    `ALTER TABLE webhook_endpoints ADD COLUMN last_failure ${types.text}`,
    `ALTER TABLE webhook_deliveries ADD COLUMN early_attempts ${types.integer} NOT NULL DEFAULT 0`,
  ],
};
