import { amount, flag, integer, table, text, time, type RowOf } from "../../database/index.ts";

/** One row: commands lock it, so that they follow one another. */
export const sandboxChain = table(
  "sandbox_chain",
  {
    /** Always 1. */
    id: integer(),
    /** How many reorganisations there were: who reads in several statements sees by it that one came between. */
    generation: integer(),
    nextLogIndex: integer(),
    /** Until then no provider of the sandbox answers. */
    stalledUntil: time(),
    /** Until then the first provider refuses whoever asks, for asking too often. */
    refusedUntil: time(),
    /** Until then the first provider answers every question about logs with none. */
    silentUntil: time(),
    /** Until then the first provider says of every transaction that it failed. */
    contraryUntil: time(),
  },
  { primaryKey: ["id"] },
);

/**
 * Blocks by rule: from a height on, one each `stepMs`. The last segment may have no end; its blocks come with time,
 * without a row being written.
 */
export const sandboxSegments = table(
  "sandbox_segments",
  {
    fromHeight: integer(),
    /** Null: it goes on, a block each `stepMs`. */
    lastHeight: integer().nullable(),
    /** Of the first block. */
    time: time(),
    stepMs: integer(),
  },
  { primaryKey: ["fromHeight"] },
);

/** From a height on, hashes are made with this salt: a reorganisation is a new one. */
export const sandboxForks = table(
  "sandbox_forks",
  { fromHeight: integer(), salt: text() },
  { primaryKey: ["fromHeight"] },
);

/** Transfers, those of one transaction in one block. Those above the tip wait for their block. */
export const sandboxTransfers = table(
  "sandbox_transfers",
  {
    transactionHash: text(),
    blockHeight: integer(),
    logIndex: integer(),
    contract: text(),
    sender: text(),
    recipient: text(),
    amount: amount(),
    /** It is in its block and moved nothing. */
    isFailed: flag(),
    /** The first provider shows it and the witness does not: it never happened. */
    isLie: flag(),
  },
  {
    primaryKey: ["transactionHash", "logIndex"],
    indexes: [{ name: "sandbox_transfers_block", columns: ["blockHeight", "logIndex"] }],
  },
);

export type SandboxChainRow = RowOf<typeof sandboxChain>;
export type SegmentRow = RowOf<typeof sandboxSegments>;
export type ForkRow = RowOf<typeof sandboxForks>;
export type SandboxTransferRow = RowOf<typeof sandboxTransfers>;
