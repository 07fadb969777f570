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

/** The state after a look. The cursor only ever moves up, to what is scanned and final. */
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

/** Which of the kept blocks stay after a look, and the one that is added. */
export function keptBlocks(
  known: readonly KnownBlock[],
  found: Look,
  after: NetworkStateRow,
  network: Pick<Network, "windowBlocks">,
): { readonly upTo: number; readonly added: KnownBlock | null } {
  const mostHeight = found.isRewound ? found.base.height : found.to.height - 1;
  const kept = known.filter(({ height }) => height > after.cursorHeight && height <= mostHeight);
  const upTo = kept.at(-1)?.height ?? after.cursorHeight;
  const spacing = Math.ceil(network.windowBlocks / keptPerWindow);
  const { height, hash } = found.to;
  return { upTo, added: height - upTo >= spacing ? { height, hash } : null };
}
