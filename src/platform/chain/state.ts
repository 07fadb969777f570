import type { Clock, Instant } from "../../kernel/clock.ts";
import {
  integer,
  json,
  table,
  text,
  time,
  type Reader,
  type RowOf,
  type Tx,
} from "../database/index.ts";
import { listed } from "../database/json-rows.ts";
import type { KnownChain } from "./client.ts";

/** What Till has seen of a network. Everything that depends on the chain's progress is computed from this one row. */
export interface NetworkState {
  readonly network: string;
  readonly chainId: number;
  /** Everything up to here is scanned and final. */
  readonly cursorHeight: number;
  /** The time of the block up to which everything is final, a minute old at least; 0: no provider gave it yet. */
  readonly cursorTime: Instant;
  /** The newest block that is scanned. */
  readonly tipHeight: number;
  readonly tipHash: string;
  readonly tipTime: Instant;
  /** The newest block that the provider told of. It is ahead of the tip while the watcher catches up. */
  readonly headHeight: number;
  /** When the watcher last looked. */
  readonly scannedAt: Instant;
  /** Symbols of the tokens whose contract counts in other decimals than configured: nothing is credited in them. */
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
    headHeight: integer(),
    scannedAt: time(),
    disabledTokens: json<readonly string[]>(),
    /** Counts every write, so that a watcher that was paused finds out that another went on. */
    version: integer(),
  },
  { primaryKey: ["network"] },
);

/**
 * Hashes of scanned blocks, some distance apart. Those between the cursor and the tip, below the window that is read
 * again at each look, tell whether the chain is still the one that was scanned, and from where on it is not. Those up to
 * the cursor tell how far to go back where a chain replaces blocks that it had called final.
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
 * The time by which deadlines are decided: that of the newest scanned block, so that nothing expires while nobody reads
 * the chain, and never later than the clock, so that no provider's word about the future expires anything.
 */
export function deadlineTime({ tipTime }: Pick<NetworkState, "tipTime">, now: Instant): Instant {
  return Math.min(tipTime, now);
}

/** The scanned chain, against which a provider's heads are checked. */
export function knownOf(state: NetworkStateRow): KnownChain {
  const { tipHeight, cursorHeight: height, cursorHash: hash, cursorTime: time } = state;
  return { tipHeight, final: { height, hash, time } };
}

/** Null: the network was never reached, so nothing can be issued on it. */
export function networkState(reader: Reader, network: string): Promise<NetworkStateRow | null> {
  return reader.findOne(stateTable, "WHERE network = $1", [network]);
}

/** The state of every network that was ever reached, by the network's id. */
export async function networkStates(reader: Reader): Promise<Map<string, NetworkState>> {
  const rows = await reader.find(stateTable, "ORDER BY network");
  return new Map(rows.map((row) => [row.network, row]));
}

/** The first state of a network. False where another process wrote one first. */
export function createState(tx: Tx, row: NetworkStateRow): Promise<boolean> {
  return tx.insertIfAbsent(stateTable, row);
}

/**
 * Writes the state that follows another. False where that is not the stored one any more: another process went on, and
 * what was read from the chain is out of date.
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

/** The kept blocks, lowest first. */
export async function knownBlocks(reader: Reader, network: string): Promise<KnownBlock[]> {
  return reader.find(blockTable, "WHERE network = $1 ORDER BY height", [network]);
}

/** Replaces the kept blocks of a network; `before` are those that are stored. */
export async function keepBlocks(
  tx: Tx,
  network: string,
  before: readonly KnownBlock[],
  after: readonly KnownBlock[],
): Promise<void> {
  const stored = new Map(before.map(({ height, hash }) => [height, hash]));
  const wanted = new Map(after.map(({ height, hash }) => [height, hash]));
  const gone = [...stored].filter(([height, hash]) => wanted.get(height) !== hash);
  const added = [...wanted].filter(([height, hash]) => stored.get(height) !== hash);
  if (gone.length > 0) {
    await tx.run(
      `DELETE FROM network_blocks WHERE network = $1
       AND CAST(height AS TEXT) IN ${listed(tx.dialect, 2)}`,
      [network, JSON.stringify(gone.map(([height]) => String(height)))],
    );
  }
  if (added.length > 0) {
    await tx.insertMany(
      blockTable,
      added.map(([height, hash]) => ({ network, height, hash })),
    );
  }
}

/** How many blocks a block and those after it are: 1 for the newest; 0 where the chain does not reach it any more. */
export function confirmationsOf(tipHeight: number, blockHeight: number): number {
  return Math.max(0, tipHeight - blockHeight + 1);
}

/** Networks' states, each at most `ageMaxMs` old: for decisions that a second makes no difference to. */
export type RecentStates = (reader: Reader, network: string) => Promise<NetworkState | null>;

/** Remembers states; that a network was never reached is asked again each time. */
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
