import type { Clock } from "../../kernel/clock.ts";
import type { Head } from "../../platform/chain/client.ts";
import type { Network } from "../../platform/chain/networks.ts";
import { extendReadings } from "../../platform/chain/readings.ts";
import {
  keepBlocks,
  knownBlocks,
  replaceState,
  type NetworkStateRow,
} from "../../platform/chain/state.ts";
import type { Database, Tx } from "../../platform/database/index.ts";
import { systemContext } from "../../platform/database/system-context.ts";
import type { LedgerDeps } from "./entry.ts";
import { enter } from "./ledger.ts";
import { AnswerDropped } from "./look.ts";
import type { News } from "./news.ts";
import { keptBlocks, nextState, stateAt } from "./progress.ts";
import { finalizeTransfers, reviveTransfers } from "./store.ts";
import type { Candidate } from "./verify.ts";
import { batchesOf } from "./window.ts";

/** Called in the transaction of a look; throws where this process may not write any more. */
export type Guard = (tx: Tx) => Promise<void>;

/** What a look brings to be written. */
export interface Findings {
  readonly news: News;
  /** Payments whose receipts were found good. */
  readonly verified: readonly Candidate[];
  readonly disabledTokens: readonly string[];
}

export interface RecorderDeps extends LedgerDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly network: Network;
}

/** How many new transfers one transaction holds, so that other writers do not wait for a full block. */
const freshMax = 1_000;

export const watcherContext = systemContext("watcher");

/** What is stored after a look's findings are. */
export interface Recorded {
  readonly state: NetworkStateRow;
  /** That made payments ready to be confirmed. */
  readonly hasMature: boolean;
}

export interface Recorder {
  /**
   * Writes a look's findings down. Where there are very many, the first transactions write transfers and leave the state
   * as it was, and the last one moves it on: a look that ends in between is done again and finds those transfers there.
   */
  record(guard: Guard, stored: NetworkStateRow, findings: Findings): Promise<Recorded>;
  /**
   * Sets the cursor back to a final block: the blocks above it are read again, and what left them is taken back like in
   * any reorganisation.
   */
  goBack(guard: Guard, stored: NetworkStateRow, base: Head, headHeight: number): Promise<void>;
  /** Confirms more payments at the tip that is stored, and gives the state after it. */
  confirm(
    guard: Guard,
    stored: NetworkStateRow,
    verified: readonly Candidate[],
  ): Promise<NetworkStateRow>;
}

const nothingNew = { fresh: [], moved: [], orphaned: [], contradicting: [] };

export function makeRecorder(deps: RecorderDeps): Recorder {
  const { db, clock, network } = deps;

  /** Moves the state on, unless another process has. */
  async function advance(tx: Tx, before: NetworkStateRow, after: NetworkStateRow): Promise<void> {
    if (await replaceState(tx, before, after)) return;
    throw new AnswerDropped("another process has looked at the network meanwhile");
  }

  /** The last part of a look, with which everything in its range is on record. */
  async function close(
    tx: Tx,
    news: News,
    before: NetworkStateRow,
    after: NetworkStateRow,
  ): Promise<void> {
    const { base, to } = news.look;
    const reading = { provider: news.provider, at: after.scannedAt };
    await extendReadings(tx, network.id, { parent: base, to }, reading);
    const kept = keptBlocks(news.known, news.look, before, after, network);
    await keepBlocks(tx, network.id, news.known, kept);
    if (news.hasRevocable && after.cursorHeight > before.cursorHeight) {
      await finalizeTransfers(tx, network.id, after.cursorHeight);
    }
  }

  async function record(
    guard: Guard,
    stored: NetworkStateRow,
    { news, verified, disabledTokens }: Findings,
  ): Promise<Recorded> {
    const batches = batchesOf(news.difference, freshMax);
    let hasMature = batches.length > 1;
    let state = stored;
    for (const [place, difference] of batches.entries()) {
      const isLast = place === batches.length - 1;
      const before = state;
      const at = clock.now();
      const after = isLast
        ? nextState(before, news.look, disabledTokens, at)
        : { ...before, version: before.version + 1 };
      const entry = { network, state: after, difference, verified: isLast ? verified : [], at };
      const foundMature = await db.write(watcherContext, async (tx) => {
        await guard(tx);
        await advance(tx, before, after);
        const found = await enter(tx, deps, entry);
        if (isLast) await close(tx, news, before, after);
        return found;
      });
      hasMature ||= foundMature;
      state = after;
    }
    return { state, hasMature };
  }

  return {
    record,
    async goBack(guard, before, base, headHeight) {
      const after = stateAt(before, base, headHeight, clock.now());
      await db.write(watcherContext, async (tx) => {
        await guard(tx);
        await advance(tx, before, after);
        const known = await knownBlocks(tx, network.id);
        const kept = known.filter(({ height }) => height <= base.height);
        await keepBlocks(tx, network.id, known, kept);
        await reviveTransfers(tx, network.id, base.height);
      });
    },
    async confirm(guard, before, verified) {
      const after = { ...before, version: before.version + 1 };
      const entry = { network, state: after, difference: nothingNew, verified, at: clock.now() };
      await db.write(watcherContext, async (tx) => {
        await guard(tx);
        await advance(tx, before, after);
        await enter(tx, deps, entry);
      });
      return after;
    },
  };
}
