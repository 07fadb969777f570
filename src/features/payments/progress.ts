import { second, type Instant } from "../../kernel/clock.ts";
import type { Head } from "../../platform/chain/client.ts";
import { ancestorAgeMs } from "../../platform/chain/head-times.ts";
import type { Network } from "../../platform/chain/networks.ts";
import type { KnownBlock, NetworkStateRow } from "../../platform/chain/state.ts";
import type { Look } from "./look.ts";

/** While nothing else changes, a new tip is written at most so often. */
const tipEveryMs = second;
/** So often at least it is written down that the chain was looked at. */
const heartbeatMs = 10 * second;
/** Kept blocks lie at least this part of the window apart. */
const keptPerWindow = 8;

/** The state after a look. The cursor moves up here, to what is scanned and final; `stateAt` alone sets it back. */
export function nextState(
  state: NetworkStateRow,
  found: Look,
  disabledTokens: readonly string[],
  at: Instant,
): NetworkStateRow {
  const { to, latest, finalized } = found;
  const final = finalized.height <= to.height ? finalized : to;
  const isNewlyFinal = final.height > state.cursorHeight;
  const cursor = isNewlyFinal
    ? { ...final, time: ancestorTime(final, at) }
    : { height: state.cursorHeight, hash: state.cursorHash, time: state.cursorTime };
  return {
    network: state.network,
    chainId: state.chainId,
    cursorHeight: cursor.height,
    cursorHash: cursor.hash,
    cursorTime: cursor.time,
    tipHeight: to.height,
    tipHash: to.hash,
    tipTime: to.time,
    headHeight: latest.height,
    scannedAt: at,
    disabledTokens,
    version: state.version + 1,
  };
}

/** The state that begins again above a final block, where the chain replaced those above it. */
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
    headHeight,
    scannedAt: at,
    version: state.version + 1,
  };
}

/** The time of a final block against which later blocks are checked. */
export function ancestorTime({ time }: Head, at: Instant): Instant {
  return Math.min(time, at - ancestorAgeMs);
}

/** Whether a state is worth a write of its own. */
export function isWorthWriting(before: NetworkStateRow, after: NetworkStateRow): boolean {
  const age = Math.abs(after.scannedAt - before.scannedAt);
  const isNewTip = before.tipHash !== after.tipHash;
  return (
    age >= heartbeatMs ||
    (isNewTip && (age >= tipEveryMs || isBehind(after))) ||
    before.disabledTokens.join() !== after.disabledTokens.join()
  );
}

/** More of the chain is there than was read. */
export function isBehind(state: NetworkStateRow): boolean {
  return state.tipHeight < state.headHeight;
}

/** Which blocks are kept after a look: some between the cursor and the tip, and of the final ones the cursor's. */
export function keptBlocks(
  known: readonly KnownBlock[],
  found: Look,
  before: Pick<NetworkStateRow, "cursorHeight" | "cursorHash">,
  after: NetworkStateRow,
  network: Pick<Network, "windowBlocks">,
): readonly KnownBlock[] {
  const spacing = Math.ceil(network.windowBlocks / keptPerWindow);
  const cursorOf = (state: typeof before) => ({
    height: state.cursorHeight,
    hash: state.cursorHash,
  });
  // A block that was kept as a revocable one may have been replaced since: only the cursor's own is final for sure.
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

/** So many spacings below the cursor every kept block stays, and one in so many spacings further down. */
const denseSpacings = 64;
const sparseSpacings = 32;
/** Kept final blocks reach down so many spacings: 65,536 blocks for a window of 256. */
const keptSpacings = denseSpacings * sparseSpacings;

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
    return isFirst && depth <= keptSpacings * spacing;
  });
}
