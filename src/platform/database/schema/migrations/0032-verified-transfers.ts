import type { Migration } from "../migrate.ts";

/**
 * Whether providers confirmed a transfer that counts for no invoice. Nobody asks about final ones of earlier versions that
 * have no payment: nodes may have dropped their receipts, and a payment of them is verified like any other.
 */
export const migration: Migration = {
  version: 32,
  name: "verified transfers",
  up: (types) => [
    `ALTER TABLE transfers ADD COLUMN verification ${types.text} NOT NULL DEFAULT 'open'`,
    `UPDATE transfers SET verification = 'skipped'
      WHERE (disposition = 'ignored' OR is_final = 1)
        AND NOT EXISTS (SELECT 1 FROM payments WHERE payments.transfer_id = transfers.id)`,
    "CREATE INDEX transfers_unverified ON transfers (network, id) WHERE verification = 'open' AND is_final = 1 AND status = 'seen' AND disposition <> 'matched'",
  ],
};
