import type { Migration } from "../migrate.ts";

/** The chain of the sandbox network. An idle chain writes nothing: blocks are computed from these rows. */
export const migration: Migration = {
  version: 3,
  name: "sandbox",
  up: (types) => [
    `CREATE TABLE sandbox_chain (
      id ${types.integer} NOT NULL PRIMARY KEY CHECK (id = 1),
      generation ${types.integer} NOT NULL,
      next_log_index ${types.integer} NOT NULL,
      stalled_until ${types.time} NOT NULL,
      refused_until ${types.time} NOT NULL,
      silent_until ${types.time} NOT NULL,
      contrary_until ${types.time} NOT NULL
    )`,
    `CREATE TABLE sandbox_segments (
      from_height ${types.integer} NOT NULL PRIMARY KEY,
      last_height ${types.integer},
      time ${types.time} NOT NULL,
      step_ms ${types.integer} NOT NULL,
      CHECK (last_height IS NOT NULL OR step_ms > 0)
    )`,
    `CREATE TABLE sandbox_forks (
      from_height ${types.integer} NOT NULL PRIMARY KEY,
      salt ${types.text} NOT NULL
    )`,
    `CREATE TABLE sandbox_transfers (
      transaction_hash ${types.text} NOT NULL,
      block_height ${types.integer} NOT NULL,
      log_index ${types.integer} NOT NULL,
      contract ${types.text} NOT NULL,
      sender ${types.text} NOT NULL,
      recipient ${types.text} NOT NULL,
      amount ${types.amount("amount")} NOT NULL,
      is_failed ${types.flag} NOT NULL,
      is_lie ${types.flag} NOT NULL,
      PRIMARY KEY (transaction_hash, log_index)
    )`,
    `CREATE INDEX sandbox_transfers_block ON sandbox_transfers (block_height, log_index)`,
  ],
};
