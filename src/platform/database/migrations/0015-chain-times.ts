import type { Migration } from "../migrate.ts";

/**
 * Holds are released by the time of the newest final block, which is kept beside its hash; 0 until the cursor moves
 * next. Expired invoices whose deadline lies ahead of the chain's time are found by an index, to open again.
 */
export const migration: Migration = {
  version: 15,
  name: "chain-times",
  up: (types) => [
    `ALTER TABLE network_states ADD COLUMN cursor_time ${types.time} NOT NULL DEFAULT 0`,
    `CREATE INDEX invoices_expired ON invoices (network, expires_at) WHERE status = 'expired'`,
  ],
};
