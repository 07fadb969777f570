import type { Migration } from "../migrate.ts";

/** The settings with which each server runs, and when it ended. */
export const migration: Migration = {
  version: 30,
  name: "server settings",
  up: (types) => [
    `ALTER TABLE server_probes ADD COLUMN settings ${types.json}`,
    `ALTER TABLE server_probes ADD COLUMN ended_at ${types.time}`,
  ],
};
