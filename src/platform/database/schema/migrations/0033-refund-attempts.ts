import type { Migration } from "../migrate.ts";

/** The attempts to prove a refund, counted by what they found. */
export const migration: Migration = {
  version: 33,
  name: "refund attempts",
  up: (types) => [
    `ALTER TABLE refunds ADD COLUMN denials ${types.integer} NOT NULL DEFAULT 0`,
    `ALTER TABLE refunds ADD COLUMN held_attempts ${types.integer} NOT NULL DEFAULT 0`,
  ],
};
