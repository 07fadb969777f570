import type { Migration } from "../migrate.ts";

/** Verification finds the announced heads of the audit chain without reading every event. */
export const migration: Migration = {
  version: 20,
  name: "audit heads",
  up: () => [`CREATE INDEX events_audit_heads ON events (id) WHERE type = 'audit.head'`],
};
