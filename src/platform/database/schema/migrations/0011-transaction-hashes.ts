import type { Migration } from "../migrate.ts";

/**
 * An invoice's row holds the transaction hashes of its counted payments, so that lists and events show them without a
 * further query. A payment's row gets the hash of its transfer, from which they are derived.
 */
export const migration: Migration = {
  version: 11,
  name: "transaction-hashes",
  up: (types, dialect) => {
    const asList =
      dialect === "sqlite" ? "json_group_array(hash)" : "json_agg(hash ORDER BY first)";
    return [
      `ALTER TABLE payments ADD COLUMN transaction_hash ${types.text} NOT NULL DEFAULT ''`,
      `UPDATE payments SET transaction_hash =
        (SELECT transfers.transaction_hash FROM transfers WHERE transfers.id = payments.transfer_id)`,
      `ALTER TABLE invoices ADD COLUMN transaction_hashes ${types.json} NOT NULL DEFAULT '[]'`,
      // Invoices show a hash in the form of its network, which follows from its address: with 0x on EVM networks.
      `UPDATE invoices SET transaction_hashes = (
        SELECT CAST(${asList} AS TEXT) FROM (
          SELECT CASE WHEN invoices.wallet_address LIKE '0x%' THEN '0x' ELSE '' END || transaction_hash AS hash,
            MIN(id) AS first
          FROM payments
          WHERE payments.invoice_id = invoices.id AND payments.status IN ('confirming', 'confirmed')
          GROUP BY transaction_hash ORDER BY first
        ) AS counted
      ) WHERE EXISTS (
        SELECT 1 FROM payments
        WHERE payments.invoice_id = invoices.id AND payments.status IN ('confirming', 'confirmed')
      )`,
    ];
  },
};
