import type { Migration } from "../migrate.ts";

/** The index of the ends of holds serves only statements that compare the end. */
export const migration: Migration = {
  version: 24,
  name: "ending holds",
  up: () => [
    "DROP INDEX holds_ending",
    "CREATE INDEX holds_ending ON holds (network, ends_at) WHERE released_at IS NULL AND ends_at IS NOT NULL",
  ],
};
