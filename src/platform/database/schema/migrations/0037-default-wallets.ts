import type { Migration } from "../migrate.ts";

/**
 * The default wallet of each network, and its reserves. The wallet that invoices without a walletId tried first until
 * now becomes the default: the newest active extended key or, without one, the newest active address. A version for each
 * wallet: its registration was the first change, and its archiving the second.
 */
export const migration: Migration = {
  version: 37,
  name: "default wallets",
  up: (types) => [
    `ALTER TABLE wallets ADD COLUMN position ${types.integer}`,
    `ALTER TABLE wallets ADD COLUMN version ${types.integer} NOT NULL DEFAULT 1`,
    "UPDATE wallets SET version = 2 WHERE status = 'archived'",
    `UPDATE wallets SET position = 0 WHERE id IN (
      SELECT id FROM (
        SELECT id, ROW_NUMBER() OVER (
          PARTITION BY organization_id, network
          ORDER BY CASE WHEN xpub IS NULL THEN 1 ELSE 0 END, id DESC
        ) AS turn
        FROM wallets WHERE status = 'active'
      ) AS tried WHERE turn = 1
    )`,
    "CREATE UNIQUE INDEX wallets_position ON wallets (organization_id, network, position) WHERE position IS NOT NULL",
  ],
};
