import type { Migration } from "../migrate.ts";

/**
 * The daily reading of wallets. Each scan of an earlier version read all wallets, so the first reading starts above the
 * last final block that was scanned. Unmatched transfers are counted by address and time.
 */
export const migration: Migration = {
  version: 45,
  name: "wallet readings",
  up: (types) => [
    `CREATE TABLE wallet_readings (
      network ${types.text} PRIMARY KEY,
      through_height ${types.integer} NOT NULL,
      before_height ${types.integer} NOT NULL,
      through_at ${types.time} NOT NULL,
      began_at ${types.time} NOT NULL,
      to_height ${types.integer} NOT NULL,
      next_height ${types.integer} NOT NULL,
      after_address ${types.text} NOT NULL,
      until_address ${types.text},
      left_out ${types.json} NOT NULL
    )`,
    `INSERT INTO wallet_readings
      SELECT network, cursor_height, cursor_height, scanned_at, scanned_at, cursor_height, cursor_height + 1, '', NULL, '{}'
      FROM network_states`,
    "CREATE INDEX wallets_read ON wallets (network, identity, archived_at) WHERE address IS NOT NULL",
    "CREATE INDEX transfers_unmatched ON transfers (network, to_address, block_time) WHERE invoice_id IS NULL AND status = 'seen'",
  ],
};
