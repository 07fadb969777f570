import { day, minute, second, type Instant } from "../../../kernel/clock.ts";
import type { Head } from "../../../platform/chain/client.ts";
import { ancestorAgeMs } from "../../../platform/chain/state/head-times.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import {
  lagOfNew,
  type KnownBlock,
  type NetworkStateRow,
} from "../../../platform/chain/state/network-state.ts";
import type { ChainRead } from "./chain-reader.ts";

/** The shortest interval between two writes for a new tip alone, in milliseconds. */
const tipEveryMs = second;
/** The longest interval between two writes of the scan time, in milliseconds. */
const heartbeatMs = 10 * second;
/** How long it takes until a lag is usual, in milliseconds, and the longest interval between scans that show it. */
const lagLearnedMs = day;
const lagGapMs = minute;
/** The number of kept blocks per window, which sets their minimum spacing. */
const storedPerWindow = 8;

/** Returns the state after a scan. The cursor moves up to the last scanned final block; only `stateAt` sets it back. */
export function nextState(
  state: NetworkStateRow,
  found: ChainRead,
  disabledTokens: readonly string[],
  at: Instant,
): NetworkStateRow {
  const { to, latest, finalized } = found;
  const final = finalized.height <= to.height ? finalized : to;
  const isNewlyFinal = final.height > state.cursorHeight;
  const cursor = isNewlyFinal
    ? { ...final, time: ancestorTime(final, at) }
    : { height: state.cursorHeight, hash: state.cursorHash, time: state.cursorTime };
  const isSeen = to.hash === state.tipHash && !isBehind(state);
  return {
    network: state.network,
    chainId: state.chainId,
    cursorHeight: cursor.height,
    cursorHash: cursor.hash,
    cursorTime: cursor.time,
    tipHeight: to.height,
    tipHash: to.hash,
    tipTime: to.time,
    tipSeenAt: isSeen ? state.tipSeenAt : seenAt(to, latest, at),
    headHeight: latest.height,
    scannedAt: at,
    usualLagMs: learnedLag(state, found, at),
    disabledTokens,
    version: state.version + 1,
  };
}

/** Returns when a block was first found to be the newest of the chain; its own time if there are newer ones. */
export function seenAt(block: Head, latest: Head, at: Instant): Instant {
  return block.hash === latest.hash ? at : Math.min(block.time, at);
}

/**
 * Returns how far the times of new blocks usually are behind the clock: a mean over `lagLearnedMs`, so that a chain whose
 * sequencer is always behind is not unusual for long. Learns only from blocks that were mined while the chain was scanned.
 */
function learnedLag(state: NetworkStateRow, { to, latest }: ChainRead, at: Instant): number {
  const { usualLagMs, scannedAt } = state;
  const lagMs = to.hash === latest.hash ? lagOfNew(state, to) : null;
  const passedMs = at - scannedAt;
  if (lagMs === null || passedMs < 0 || passedMs > lagGapMs) return usualLagMs;
  const change = (Math.max(0, lagMs) - usualLagMs) * (passedMs / lagLearnedMs);
  return Math.round(usualLagMs + change);
}

/** Returns the state that restarts above a final block after the chain replaced the blocks above it. */
export function stateAt(
  state: NetworkStateRow,
  base: Head,
  headHeight: number,
  at: Instant,
): NetworkStateRow {
  return {
    ...state,
    cursorHeight: base.height,
    cursorHash: base.hash,
    cursorTime: ancestorTime(base, at),
    tipHeight: base.height,
    tipHash: base.hash,
    tipTime: base.time,
    tipSeenAt: base.time,
    headHeight,
    scannedAt: at,
    version: state.version + 1,
  };
}

/** Returns the time of a final block against which later blocks are checked. */
export function ancestorTime({ time }: Head, at: Instant): Instant {
  return Math.min(time, at - ancestorAgeMs);
}

/** Returns true if a state is worth a write without other changes. */
export function isWorthWriting(before: NetworkStateRow, after: NetworkStateRow): boolean {
  const age = Math.abs(after.scannedAt - before.scannedAt);
  const isNewTip = before.tipHash !== after.tipHash;
  return (
    age >= heartbeatMs ||
    (isNewTip && (age >= tipEveryMs || isBehind(after))) ||
    before.disabledTokens.join() !== after.disabledTokens.join()
  );
}

/** Returns true if the chain has blocks that were not read. */
export function isBehind(state: NetworkStateRow): boolean {
  return state.tipHeight < state.headHeight;
}

/** Returns the blocks to keep after a scan: some between the cursor and the tip, and former cursors. */
export function blocksToStore(
  known: readonly KnownBlock[],
  found: ChainRead,
  before: Pick<NetworkStateRow, "cursorHeight" | "cursorHash">,
  after: NetworkStateRow,
  network: Pick<Network, "windowBlocks">,
): readonly KnownBlock[] {
  const spacing = Math.ceil(network.windowBlocks / storedPerWindow);
  const cursorOf = (state: typeof before) => ({
    height: state.cursorHeight,
    hash: state.cursorHash,
  });
  // A block kept before it was final may have been replaced since: only cursors are certainly final.
  const final = known.filter(({ height }) => height <= before.cursorHeight);
  const cursors = [cursorOf(before), cursorOf(after)];
  for (const cursor of cursors) {
    const last = final.at(-1);
    if (last === undefined || cursor.height - last.height >= spacing) final.push(cursor);
  }

  const mostHeight = found.isRewound ? found.base.height : found.to.height - 1;
  const open = known.filter(({ height }) => height > after.cursorHeight && height <= mostHeight);
  const { height, hash } = found.to;
  const upTo = open.at(-1)?.height ?? after.cursorHeight;
  if (height - upTo >= spacing) open.push({ height, hash });
  return [...thinned(final, spacing, after.cursorHeight), ...open];
}

/** The depth below the cursor, in spacings, to which all kept blocks stay; below, one stays per `sparseSpacings`. */
const denseSpacings = 64;
const sparseSpacings = 32;
/** The depth of kept final blocks, in spacings: 65,536 blocks for a window of 256. */
const storedSpacings = denseSpacings * sparseSpacings;

function thinned(
  final: readonly KnownBlock[],
  spacing: number,
  cursorHeight: number,
): readonly KnownBlock[] {
  let bucket = -1;
  return final.filter(({ height }) => {
    const depth = cursorHeight - height;
    if (depth <= denseSpacings * spacing) return true;
    const own = Math.floor(height / (sparseSpacings * spacing));
    const isFirst = own !== bucket;
    bucket = own;
    return isFirst && depth <= storedSpacings * spacing;
  });
}
