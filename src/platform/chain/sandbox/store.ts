import type { Reader, Tx } from "../../database/database.ts";
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

export function readChain(reader: Reader): Promise<SandboxChainRow | null> {
  return reader.findOne(sandboxChain, "WHERE id = 1");
}

/** Locks the chain's row until the transaction ends; null if the chain does not exist yet. */
export function lockChain(tx: Tx): Promise<SandboxChainRow | null> {
  return tx.lockOne(sandboxChain, "WHERE id = 1");
}

/** Returns false if another process was first. */
export function insertChain(tx: Tx, row: SandboxChainRow): Promise<boolean> {
  return tx.insertIfAbsent(sandboxChain, row);
}

export async function updateChain(
  tx: Tx,
  set: Partial<Omit<SandboxChainRow, "id">>,
): Promise<void> {
  await tx.update(sandboxChain, set, "WHERE id = 1");
}

export function newestSegment(reader: Reader): Promise<SegmentRow | null> {
  return reader.findOne(sandboxSegments, "ORDER BY from_height DESC LIMIT 1");
}

/** Returns the segment that contains a height and all segments above it, in ascending order. */
export function segmentsFrom(reader: Reader, height: number): Promise<SegmentRow[]> {
  return reader.find(
    sandboxSegments,
    `WHERE from_height >= (SELECT MAX(from_height) FROM sandbox_segments WHERE from_height <= $1)
     ORDER BY from_height`,
    [height],
  );
}

export function insertSegment(tx: Tx, row: SegmentRow): Promise<void> {
  return tx.insert(sandboxSegments, row);
}

/** Ends a segment at a height, or deletes it if it has no block up to there. */
export async function endSegment(tx: Tx, segment: SegmentRow, lastHeight: number): Promise<void> {
  const where = "WHERE from_height = $1";
  if (segment.fromHeight > lastHeight) {
    await tx.run(`DELETE FROM sandbox_segments ${where}`, [segment.fromHeight]);
  } else {
    await tx.update(sandboxSegments, { lastHeight }, where, [segment.fromHeight]);
  }
}

/** Returns the fork that contains a height and all forks above it, in ascending order. */
export function forksFrom(reader: Reader, height: number): Promise<ForkRow[]> {
  return reader.find(
    sandboxForks,
    `WHERE from_height >= (SELECT MAX(from_height) FROM sandbox_forks WHERE from_height <= $1)
     ORDER BY from_height`,
    [height],
  );
}

/** Adds a fork, and deletes those that begin at the same height or above. */
export async function replaceForks(tx: Tx, row: ForkRow): Promise<void> {
  await tx.run("DELETE FROM sandbox_forks WHERE from_height >= $1", [row.fromHeight]);
  await tx.insert(sandboxForks, row);
}

export function insertTransfers(tx: Tx, rows: readonly SandboxTransferRow[]): Promise<void> {
  return tx.insertMany(sandboxTransfers, rows);
}

/** Returns the transfers of these blocks in chain order, including failed ones. */
export function transfersBetween(
  reader: Reader,
  from: number,
  to: number,
): Promise<SandboxTransferRow[]> {
  return reader.find(
    sandboxTransfers,
    "WHERE block_height >= $1 AND block_height <= $2 ORDER BY block_height, log_index",
    [from, to],
  );
}

/** Returns the transfers of a transaction in the order of its logs; none if it is unknown. */
export function transfersOf(
  reader: Reader,
  transactionHash: string,
): Promise<SandboxTransferRow[]> {
  return reader.find(sandboxTransfers, "WHERE transaction_hash = $1 ORDER BY log_index", [
    transactionHash,
  ]);
}

export async function deleteTransfersBetween(tx: Tx, from: number, to: number): Promise<void> {
  await tx.run("DELETE FROM sandbox_transfers WHERE block_height >= $1 AND block_height <= $2", [
    from,
    to,
  ]);
}

/** Deletes the transfers that only the first provider reports. */
export async function deleteLies(tx: Tx): Promise<void> {
  await tx.run("DELETE FROM sandbox_transfers WHERE is_lie = 1");
}

export async function moveTransfer(
  tx: Tx,
  { transactionHash, logIndex }: Pick<SandboxTransferRow, "transactionHash" | "logIndex">,
  to: Pick<SandboxTransferRow, "blockHeight" | "logIndex">,
): Promise<void> {
  await tx.update(sandboxTransfers, to, "WHERE transaction_hash = $1 AND log_index = $2", [
    transactionHash,
    logIndex,
  ]);
}

/** Puts the transfers that wait for a block into this one. */
export async function moveWaitingTransfers(tx: Tx, blockHeight: number): Promise<void> {
  await tx.update(sandboxTransfers, { blockHeight }, "WHERE block_height > $1", [blockHeight]);
}
