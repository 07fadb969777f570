import type { Migration } from "../migrate.ts";

/**
 * The identity of transfers without the log index, which providers count differently. Rows with equal money in one
 * transaction are numbered, those on the chain first, so that each row stays a transfer of its own: no two become one,
 * none changes its amount or its payments, and the unique index over all rows proves it. Attempts at webhooks keep what
 * was odd about the response.
 */
export const migration: Migration = {
  version: 47,
  name: "foreign formats",
  up: (types) => [
    `ALTER TABLE transfers ADD COLUMN ordinal ${types.integer} NOT NULL DEFAULT 0`,
    `UPDATE transfers SET ordinal = counted.ordinal
     FROM (
       SELECT id, ROW_NUMBER() OVER (
         PARTITION BY network, transaction_hash, contract, from_address, to_address, amount
         ORDER BY CASE WHEN status = 'seen' THEN 0 ELSE 1 END, log_index, id
       ) - 1 AS ordinal
       FROM transfers
     ) AS counted
     WHERE counted.id = transfers.id AND counted.ordinal > 0`,
    "DROP INDEX transfers_position",
    "DROP INDEX transfers_transaction",
    `CREATE UNIQUE INDEX transfers_identity ON transfers
      (transaction_hash, network, contract, from_address, to_address, amount, ordinal)`,
    `ALTER TABLE webhook_attempts ADD COLUMN oddity ${types.text}`,
  ],
};
