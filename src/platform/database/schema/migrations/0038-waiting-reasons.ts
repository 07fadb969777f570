import type { Migration } from "../migrate.ts";

/** Why a transfer that fits an invoice waits in the inbox; null for transfers of earlier versions. */
export const migration: Migration = {
  version: 38,
  name: "waiting reasons",
  up: (types) => [`ALTER TABLE transfers ADD COLUMN waiting_reason ${types.text}`],
};
