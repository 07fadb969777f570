import type { Migration } from "../migrate.ts";

/**
 * Addresses of extended keys that are given again: which key and index an address was derived from, and whether it may be
 * given again. Addresses of invoices with several options, of which the columns describe only one, are never given again;
 * nor is any of a store that was restored: the store that it replaced may have been upgraded, and have given them again.
 */
export const migration: Migration = {
  version: 43,
  name: "reused addresses",
  up: (types) => [
    `ALTER TABLE wallet_claims ADD COLUMN key_identity ${types.text}`,
    `ALTER TABLE wallet_claims ADD COLUMN key_index ${types.integer}`,
    `ALTER TABLE wallet_claims ADD COLUMN derived_state ${types.text}
       CHECK (derived_state IN ('held', 'free', 'spent'))`,
    `UPDATE wallet_claims SET derived_state = 'spent' WHERE kind = 'derived'`,
    `UPDATE wallet_claims SET key_identity = given.key_identity, key_index = given.key_index,
       derived_state = CASE WHEN given.live > 0 THEN 'held' ELSE 'free' END
     FROM (
       SELECT wallets.family AS family, holds.address AS address,
         MAX(wallets.identity) AS key_identity, MAX(invoices.address_index) AS key_index,
         SUM(CASE WHEN holds.released_at IS NULL THEN 1 ELSE 0 END) AS live
       FROM holds JOIN invoices ON invoices.id = holds.invoice_id
         JOIN wallets ON wallets.id = invoices.wallet_id
       WHERE holds.kind = 'exclusive' AND invoices.payment_options IS NULL
         AND invoices.address_index IS NOT NULL
         AND holds.address NOT IN (SELECT to_address FROM transfers)
         AND NOT EXISTS (SELECT 1 FROM meta WHERE name = 'restores')
       GROUP BY wallets.family, holds.address
     ) AS given
     WHERE wallet_claims.kind = 'derived' AND wallet_claims.family = given.family
       AND wallet_claims.identity = given.address`,
    `CREATE INDEX wallet_claims_free ON wallet_claims (family, key_identity, organization_id, key_index)
       WHERE derived_state = 'free'`,
    `ALTER TABLE holds ADD COLUMN recyclable_key ${types.text}`,
    `CREATE INDEX holds_recyclable ON holds (network, recyclable_key, starts_at, id)
       WHERE released_at IS NULL AND recyclable_key IS NOT NULL`,
    `ALTER TABLE invoices ADD COLUMN started_from ${types.text}`,
    `ALTER TABLE payment_links ADD COLUMN limited_at ${types.time}`,
  ],
};
