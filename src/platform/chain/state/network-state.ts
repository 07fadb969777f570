import { minute, type Clock, type Instant } from "../../../kernel/clock.ts";
import { integer, json, table, text, time, type RowOf } from "../../database/schema/table.ts";
import type { Reader, Tx } from "../../database/database.ts";
import type { Head, KnownChain } from "../client.ts";
import type { Network } from "../networks.ts";

/** The progress of the watcher on a network. Everything that depends on it is computed from this one row. */
export interface NetworkState {
  readonly network: string;
  readonly chainId: number;
  /** The height up to which every block is scanned and final. */
  readonly cursorHeight: number;
  /** The time of the block at the cursor, recorded as at least one minute old; 0: no provider has returned it yet. */
  readonly cursorTime: Instant;
  /** The newest scanned block. */
  readonly tipHeight: number;
  readonly tipHash: string;
  readonly tipTime: Instant;
  /** When a scan first found this block to be the newest of the chain; until the chain is read to its end, the block's time. */
  readonly tipSeenAt: Instant;
  /** The newest block that the provider has reported. It is ahead of the tip while the watcher catches up. */
  readonly headHeight: number;
  /** The time of the last scan. */
  readonly scannedAt: Instant;
  /** How far the times of new blocks usually are behind the clock, in milliseconds, as learned over a day. */
  readonly usualLagMs: number;
  /** Symbols of the tokens whose contract has other decimals than configured: transfers of them are not credited. */
  readonly disabledTokens: readonly string[];
}

export const stateTable = table(
  "network_states",
  {
    network: text(),
    chainId: integer(),
    cursorHeight: integer(),
    cursorHash: text(),
    cursorTime: time(),
    tipHeight: integer(),
    tipHash: text(),
    tipTime: time(),
    tipSeenAt: time(),
    headHeight: integer(),
    scannedAt: time(),
    usualLagMs: integer(),
    disabledTokens: json<readonly string[]>(),
    /** Incremented by every write, so that a watcher that was paused notices the progress of another one. */
    version: integer(),
  },
  { primaryKey: ["network"] },
);

/**
 * Hashes of scanned blocks, at intervals. Those between the cursor and the tip, below the window that every scan reads
 * again, show whether the chain is still the scanned one, and from which height it is not. Those up to the cursor show
 * how far to go back if a chain replaces blocks that it had reported as final.
 */
export const blockTable = table(
  "network_blocks",
  { network: text(), height: integer(), hash: text() },
  { primaryKey: ["network", "height"] },
);

export type NetworkStateRow = RowOf<typeof stateTable>;

export interface KnownBlock {
  readonly height: number;
  readonly hash: string;
}

/**
 * Returns the time that decides deadlines: that of the newest scanned block, so that nothing expires while the chain is
 * not being read; but at most the current time, so that a provider's block from the future expires nothing.
 */
export function deadlineTime({ tipTime }: Pick<NetworkState, "tipTime">, now: Instant): Instant {
  return Math.min(tipTime, now);
}

/** How long a chain may have no new block, and how far the times of new ones may be behind: this long, or this many blocks. */
const delayUsual = { ms: 2 * minute, blocks: 10 };

/** Returns how long after the last new block of a chain the next one is overdue, in milliseconds. */
export function overdueMs({ blockTimeMs }: Pick<Network, "blockTimeMs">): number {
  return Math.max(delayUsual.ms, delayUsual.blocks * blockTimeMs);
}

/** Returns how far the times of a chain's new blocks may be behind the clock before that is unusual, in milliseconds. */
export function lagAllowedMs(
  network: Pick<Network, "blockTimeMs">,
  { usualLagMs }: Pick<NetworkState, "usualLagMs">,
): number {
  return Math.max(overdueMs(network), 2 * usualLagMs);
}

/**
 * Returns how far the time of a chain's newest block is at least behind the clock, in milliseconds; null if a scan had the
 * block before. A block that was mined while nothing was scanned proves no lag: the result is then negative.
 */
export function lagOfNew(
  before: Pick<NetworkState, "tipHeight" | "scannedAt">,
  newest: Pick<Head, "height" | "time">,
): number | null {
  return newest.height <= before.tipHeight ? null : before.scannedAt - newest.time;
}

/** Returns the scanned chain, with which a provider's heads are compared. */
export function knownOf(state: NetworkStateRow): KnownChain {
  const { tipHeight, cursorHeight: height, cursorHash: hash, cursorTime: time } = state;
  return { tipHeight, final: { height, hash, time } };
}

/** Returns the state of a network; null if the network was never reached, so that nothing can be issued on it. */
export function networkState(reader: Reader, network: string): Promise<NetworkStateRow | null> {
  return reader.findOne(stateTable, "WHERE network = $1", [network]);
}

/** Returns the state of every network that was ever reached, by the network's id. */
export async function networkStates(reader: Reader): Promise<Map<string, NetworkStateRow>> {
  const rows = await reader.find(stateTable, "ORDER BY network");
  return new Map(rows.map((row) => [row.network, row]));
}

/** Stores the first state of a network. Returns false if another process stored one first. */
export function createState(tx: Tx, row: NetworkStateRow): Promise<boolean> {
  return tx.insertIfAbsent(stateTable, row);
}

/**
 * Replaces a state by its successor. Returns false if the stored state is no longer `before`: another process has
 * stored its progress, and the data that was read from the chain is out of date.
 */
export async function replaceState(
  tx: Tx,
  before: NetworkStateRow,
  after: Omit<NetworkStateRow, "version" | "network">,
): Promise<boolean> {
  const changed = await tx.update(
    stateTable,
    { ...after, version: before.version + 1 },
    "WHERE network = $1 AND version = $2",
    [before.network, before.version],
  );
  return changed === 1;
}

/** Returns the stored blocks, the lowest first. */
export async function knownBlocks(reader: Reader, network: string): Promise<KnownBlock[]> {
  return reader.find(blockTable, "WHERE network = $1 ORDER BY height", [network]);
}

/** Replaces the stored blocks of a network; `before` are those in the store. */
export async function storeBlocks(
  tx: Tx,
  network: string,
  before: readonly KnownBlock[],
  after: readonly KnownBlock[],
): Promise<void> {
  const stored = new Map(before.map(({ height, hash }) => [height, hash]));
  const wanted = new Map(after.map(({ height, hash }) => [height, hash]));
  const gone = [...stored].filter(([height, hash]) => wanted.get(height) !== hash);
  const added = [...wanted].filter(([height, hash]) => stored.get(height) !== hash);
  await tx.deleteMany(
    blockTable,
    gone.map(([height]) => ({ network, height })),
  );
  if (added.length > 0) {
    await tx.insertMany(
      blockTable,
      added.map(([height, hash]) => ({ network, height, hash })),
    );
  }
}

/** Returns the confirmations of a block: 1 for the newest; 0 if the chain no longer reaches it. */
export function confirmationsOf(tipHeight: number, blockHeight: number): number {
  return Math.max(0, tipHeight - blockHeight + 1);
}

/** Reads a network's state, at most `ageMaxMs` old, for decisions that need not be exact to the second. */
type RecentStates = (reader: Reader, network: string) => Promise<NetworkState | null>;

/** Caches states. A network that was never reached is read from the store each time. */
export function createRecentStates(clock: Clock, ageMaxMs: number): RecentStates {
  const recent = new Map<string, { readonly state: NetworkState; readonly readAt: Instant }>();
  return async (reader, network) => {
    const known = recent.get(network);
    const now = clock.now();
    if (known !== undefined && now - known.readAt < ageMaxMs) return known.state;
    const state = await networkState(reader, network);
    if (state !== null) recent.set(network, { state, readAt: now });
    return state;
  };
}
