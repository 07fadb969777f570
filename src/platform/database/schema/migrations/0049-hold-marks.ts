import type { Migration } from "../migrate.ts";

/**
 * The newest block that was read when an invoice was issued, whether an address was ever held before, when a network's
 * newest block was first read, and how far its blocks' times usually are behind. Holds of earlier
 * versions have no such block. An address with a single hold was not held before, unless the store was restored: the former
 * one may have had another hold of it.
 */
export const migration: Migration = {
  version: 49,
  name: "hold marks",
  up: (types) => [
    `ALTER TABLE holds ADD COLUMN mark_height ${types.integer}`,
    `ALTER TABLE holds ADD COLUMN mark_hash ${types.text}`,
    `ALTER TABLE holds ADD COLUMN mark_read_at ${types.time}`,
    `ALTER TABLE holds ADD COLUMN is_mark_recent ${types.flag} NOT NULL DEFAULT 0`,
    `ALTER TABLE holds ADD COLUMN is_new_address ${types.flag} NOT NULL DEFAULT 0`,
    `UPDATE holds SET is_new_address = 1
     WHERE kind = 'exclusive' AND released_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM meta WHERE name = 'restores')
       AND address IN (SELECT address FROM holds GROUP BY address HAVING count(DISTINCT invoice_id) = 1)`,
    `CREATE INDEX holds_marked ON holds (network, address, mark_height)
       WHERE released_at IS NULL AND mark_height IS NOT NULL`,
    `ALTER TABLE network_states ADD COLUMN tip_seen_at ${types.time} NOT NULL DEFAULT 0`,
    `ALTER TABLE network_states ADD COLUMN usual_lag_ms ${types.integer} NOT NULL DEFAULT 0`,
    "UPDATE network_states SET tip_seen_at = tip_time",
  ],
};
