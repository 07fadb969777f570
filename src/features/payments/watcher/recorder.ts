import type { App, InTx } from "../../../app.ts";
import type { Head } from "../../../platform/chain/client.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import { fillGaps, noteRefusals } from "../../../platform/chain/state/reading-ranges.ts";
import { extendReadings, markUnread } from "../../../platform/chain/state/readings.ts";
import {
  storeBlocks,
  knownBlocks,
  replaceState,
  type NetworkStateRow,
} from "../../../platform/chain/state/network-state.ts";
import { systemContext, type Tx } from "../../../platform/database/database.ts";
import { applyChainDiff } from "../ledger/apply-chain-diff.ts";
import { ReplyDropped } from "./chain-reader.ts";
import type { ChainChanges } from "./read-changes.ts";
import type { FoundGap } from "./gaps.ts";
import { blocksToStore, nextState, stateAt } from "./cursor.ts";
import { finalizeTransfers, reviveTransfers } from "../ledger/store.ts";
import type { Candidate } from "./receipt-verifier.ts";
import { batchesOf } from "../ledger/chain-diff.ts";
import { lowerWalletReading } from "./readings/wallet-reading.ts";

/** Called in the transaction of a scan; throws if this process may no longer write. */
export type LeaseGuard = (tx: Tx) => Promise<void>;

/** The findings of a scan that are to be stored. */
interface ScanFindings {
  readonly changes: ChainChanges;
  /** Payments whose receipts were verified. */
  readonly verified: readonly Candidate[];
  readonly disabledTokens: readonly string[];
}

/**
 * The largest number of new transfers in one transaction, so that other writers do not wait for a full block. A larger
 * transaction takes more CPU per transfer, because its rows survive garbage collections until the commit.
 */
const freshMax = 500;

export const watcherContext = systemContext("watcher");

/** The result of storing a scan's findings. */
interface RecordedScan {
  readonly state: NetworkStateRow;
  /** True if payments reached their required confirmations. */
  readonly hasMature: boolean;
}

const nothingNew = { fresh: [], moved: [], orphaned: [], contradicting: [] };

/**
 * Stores a scan's findings. If there are very many, the first transactions write transfers only, and the last one
 * advances the state: an interrupted scan is repeated and finds those transfers stored.
 */
export async function recordScan(
  app: App,
  network: Network,
  guard: LeaseGuard,
  stored: NetworkStateRow,
  { changes, verified, disabledTokens }: ScanFindings,
): Promise<RecordedScan> {
  const { db, clock } = app;
  const batches = batchesOf(changes.difference, freshMax);
  let hasMature = batches.length > 1;
  let state = stored;
  for (const [index, difference] of batches.entries()) {
    const isLast = index === batches.length - 1;
    const before = state;
    const at = clock.now();
    const after = isLast
      ? nextState(before, changes.read, disabledTokens, at)
      : { ...before, version: before.version + 1 };
    const { marks } = changes;
    const input = {
      network,
      state: after,
      difference,
      marks,
      at,
      verified: isLast ? verified : [],
    };
    const foundMature = await db.write(watcherContext, async (tx) => {
      await guard(tx);
      await advance(tx, before, after);
      const isMature = await applyChainDiff(tx, app, input);
      if (isLast) await close(tx, network, changes, before, after);
      return isMature;
    });
    hasMature ||= foundMature;
    state = after;
  }
  return { state, hasMature };
}

/**
 * Sets the cursor back to a final block. The blocks above it are read again, and transfers that have left the chain
 * are reverted as in any reorganization.
 */
export async function setCursorBack(
  { db, clock }: App,
  network: Network,
  guard: LeaseGuard,
  before: NetworkStateRow,
  base: Head,
  headHeight: number,
): Promise<void> {
  const after = stateAt(before, base, headHeight, clock.now());
  await db.write(watcherContext, async (tx) => {
    await guard(tx);
    await advance(tx, before, after);
    const known = await knownBlocks(tx, network.id);
    const blocks = known.filter(({ height }) => height <= base.height);
    await storeBlocks(tx, network.id, known, blocks);
    await reviveTransfers(tx, network.id, base.height);
    await lowerWalletReading(tx, network.id, base.height);
    // Gaps above it are of blocks that were replaced.
    await fillGaps(tx, network.id, { from: base.height + 1, to: before.cursorHeight });
  });
}

/**
 * Sets the cursor to the block above a gap, so that newer blocks are read. The gap stays on record as unread, with the
 * block above it, until a later reading fills it. It keeps the holds of the network.
 */
export async function skipGap(
  { db, clock }: App,
  network: Network,
  guard: LeaseGuard,
  before: NetworkStateRow,
  { from, to, refusals, endHash, above }: FoundGap,
  headHeight: number,
): Promise<void> {
  const at = clock.now();
  const after = stateAt(before, above, headHeight, at);
  const isAboveTip = from > before.tipHeight;
  const parent = {
    height: from - 1,
    hash: isAboveTip ? before.tipHash : before.cursorHash,
  };
  await db.write(watcherContext, async (tx) => {
    await guard(tx);
    await advance(tx, before, after);
    const known = await knownBlocks(tx, network.id);
    const blocks = known.filter(({ height }) => height < before.cursorHeight);
    const cursor = { height: before.cursorHeight, hash: before.cursorHash };
    await storeBlocks(tx, network.id, known, [...blocks, cursor]);
    const end = { height: to, hash: endHash ?? "" };
    await markUnread(tx, network.id, { parent, to: end }, at);
    await markUnread(tx, network.id, { parent: { height: to, hash: endHash }, to: above }, at);
    await noteRefusals(tx, network.id, { from, to }, refusals, at);
  });
}

/** Confirms more payments at the stored tip, and returns the new state. */
export async function confirmPayments(
  app: App,
  network: Network,
  guard: LeaseGuard,
  before: NetworkStateRow,
  verified: readonly Candidate[],
): Promise<NetworkStateRow> {
  return app.db.write(watcherContext, async (tx) => {
    await guard(tx);
    return confirmPaymentsIn(tx, app, network, before, verified);
  });
}

/** Confirms payments at the stored tip in a transaction. Throws ReplyDropped if the state has changed. */
export async function confirmPaymentsIn(
  tx: Tx,
  app: InTx,
  network: Network,
  before: NetworkStateRow,
  verified: readonly Candidate[],
): Promise<NetworkStateRow> {
  const after = { ...before, version: before.version + 1 };
  await advance(tx, before, after);
  const input = {
    network,
    state: after,
    difference: nothingNew,
    verified,
    marks: [],
    at: app.clock.now(),
  };
  await applyChainDiff(tx, app, input);
  return after;
}

/** Advances the state. Throws ReplyDropped if another process has changed it. */
async function advance(tx: Tx, before: NetworkStateRow, after: NetworkStateRow): Promise<void> {
  if (await replaceState(tx, before, after)) return;
  throw new ReplyDropped("another process has scanned the network meanwhile");
}

/** Completes a scan whose transfers are all stored: notes the reading, the kept blocks and the final transfers. */
async function close(
  tx: Tx,
  network: Network,
  changes: ChainChanges,
  before: NetworkStateRow,
  after: NetworkStateRow,
): Promise<void> {
  const { base, to } = changes.read;
  const reading = { provider: changes.provider, at: after.scannedAt };
  await extendReadings(tx, network.id, { parent: base, to }, reading);
  const blocks = blocksToStore(changes.known, changes.read, before, after, network);
  await storeBlocks(tx, network.id, changes.known, blocks);
  if (changes.hasRevocable && after.cursorHeight > before.cursorHeight) {
    await finalizeTransfers(tx, network.id, after.cursorHeight);
  }
}
