import type { Migration } from "../migrate.ts";

/**
 * Holds are released by the time of the newest final block, which is stored with its hash; 0 until the cursor moves
 * next. An index finds expired invoices whose deadline is ahead of the chain's time, to reopen them.
 */
export const migration: Migration = {
  version: 15,
  name: "chain-times",
  up: (types) => [
    `ALTER TABLE network_states ADD COLUMN cursor_time ${types.time} NOT NULL DEFAULT 0`,
    `CREATE INDEX invoices_expired ON invoices (network, expires_at) WHERE status = 'expired'`,
  ],
};
