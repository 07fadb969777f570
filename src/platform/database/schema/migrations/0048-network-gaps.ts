import type { Migration } from "../migrate.ts";

/** The ranges of blocks that providers refuse to read, with their refusals and an operator's acceptance. */
export const migration: Migration = {
  version: 48,
  name: "network gaps",
  up: (types) => [
    `CREATE TABLE network_gaps (
      network ${types.text} NOT NULL,
      from_height ${types.integer} NOT NULL,
      to_height ${types.integer} NOT NULL,
      refusals ${types.json} NOT NULL,
      accepted_at ${types.time},
      accepted_reason ${types.text},
      PRIMARY KEY (network, from_height)
    )`,
  ],
};
