import {
  amount,
  flag,
  integer,
  table,
  text,
  time,
  type RowOf,
} from "../../database/schema/table.ts";

/** The single row that commands lock, so that they run one after another. */
export const sandboxChain = table(
  "sandbox_chain",
  {
    /** Always 1. */
    id: integer(),
    /** Number of changes to blocks that exist. A reader with several statements uses it to notice one in between. */
    generation: integer(),
    nextLogIndex: integer(),
    /** Until this time, no provider of the sandbox responds. */
    stalledUntil: time(),
    /** Until this time, the first provider refuses every request as too frequent. */
    refusedUntil: time(),
    /** Until this time, the first provider returns no logs. */
    silentUntil: time(),
    /** Until this time, the first provider reports every transaction as failed. */
    contraryUntil: time(),
    /** When all failures were last ended, so that servers check the providers at once; 0: never. */
    healedAt: time(),
  },
  { primaryKey: ["id"] },
);

/**
 * Blocks by rule: one block per `stepMs` milliseconds from a height on. The last segment may be open-ended: its blocks
 * appear with time, and no row is written for them.
 */
export const sandboxSegments = table(
  "sandbox_segments",
  {
    fromHeight: integer(),
    /** Null: open-ended, with one block per `stepMs` milliseconds. */
    lastHeight: integer().nullable(),
    /** The time of the first block. */
    time: time(),
    stepMs: integer(),
  },
  { primaryKey: ["fromHeight"] },
);

/** The salt of block hashes from a height on. A reorganization adds a new salt. */
export const sandboxForks = table(
  "sandbox_forks",
  { fromHeight: integer(), salt: text() },
  { primaryKey: ["fromHeight"] },
);

/** Transfers; those of one transaction are in the same block. Transfers above the tip wait for their block. */
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
    /** True: the transaction is in its block, but moved nothing. */
    isFailed: flag(),
    /** True: only the first provider reports it. The crossCheck does not, because it never happened. */
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
