import { day, minute, second, type Clock, type Instant } from "../../../kernel/clock.ts";
import { createAlarms, type ChainAlarms } from "../../../platform/chain/state/alarms.ts";
import type { ChainClient } from "../../../platform/chain/client.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import { ProviderError } from "../../../platform/chain/providers/error.ts";
import type { ProviderPool } from "../../../platform/chain/providers/pool.ts";
import {
  createState,
  keepBlocks,
  knownOf,
  networkState,
  type NetworkStateRow,
} from "../../../platform/chain/state/network-state.ts";
import type { Database } from "../../../platform/database/index.ts";
import type { Logger } from "../../../platform/logger/index.ts";
import type { BlockTimes } from "./block-times.ts";
import type { LedgerDeps } from "../ledger/types.ts";
import { AnswerDropped, makeRangeSize } from "./chain-reader.ts";
import { findChanges, type ChainChanges } from "./read-changes.ts";
import { makeFinalityCheck } from "./finality.ts";
import {
  checkChainId,
  checkSameChain,
  findDisabledTokens,
  NetworkStopped,
} from "./network-checks.ts";
import { ancestorTime, isBehind, isWorthWriting, nextState } from "./cursor.ts";
import { makeRecorder, watcherContext, type Guard } from "./recorder.ts";
import {
  confirmingAmong,
  maturePayments,
  transfersById,
  type ConfirmingPlace,
} from "../ledger/store.ts";
import type { TransferRow } from "../table.ts";
import { makeVerifier, type Candidate } from "./receipt-verifier.ts";
import { isSame, type WindowDifference } from "../ledger/chain-diff.ts";

export interface WatcherDeps extends LedgerDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly network: Network;
  /** The network's providers behind one interface, which skips failing ones. */
  readonly client: ChainClient;
  /** The individual providers, in order of preference. */
  readonly providers: readonly ChainClient[];
  /** The pool behind `client`, if `client` is a pool. */
  readonly pool?: Pick<
    ProviderPool,
    "isReady" | "isAnotherReady" | "unusableSince" | "distrust" | "passOver" | "doubtTime"
  >;
  readonly times: BlockTimes;
  /** The alarms for operators; without it, alarms appear in the log only. */
  readonly alarms?: ChainAlarms;
}

/** Scans one network, for all merchants together. */
export interface Watcher {
  readonly network: Network;
  /** The names of the network's providers as shown to operators, in order of preference. */
  readonly providers: readonly string[];
  /**
   * Scans the chain once, and stores the findings in one transaction, or several if there are very many. Returns true if
   * more work is due. A failing provider or inconsistent answers end the scan without effect; the next one makes up for
   * it.
   */
  look(guard: Guard): Promise<boolean>;
  /**
   * Returns the time of the newest final block, by which holds are released. Null while it is unknown or, with two or
   * more providers, while no two agree on it.
   */
  finalTime(): Promise<Instant | null>;
  /** Returns why the network cannot be read, or null, and the number of payments that a provider's contradiction holds. */
  health(): { readonly problem: string | null; readonly heldPayments: number };
}

/** The largest number of payments that are verified and confirmed together. */
const confirmationsMax = 500;
/** How long payments are confirmed before the next scan, in milliseconds: well below the lease on the network. */
const confirmingForMs = 5 * second;
/** How long a chain must stay shorter before that is believed, in milliseconds; until then the provider is behind. */
const shorterMs = 2 * minute;
/** The number of consecutive dropped scans after which a problem is reported. */
const droppedMax = 5;
/** The number after which another provider is asked; a chain that changes during scans also causes dropped ones. */
const droppedOfOneMax = 3;
/** How often disabled tokens are re-checked, in milliseconds: the provider may have been at fault. */
const disabledAgainMs = 10 * minute;

/** How often held payments are checked for a decision, in milliseconds. */
const releaseEveryMs = 15 * second;

const firstPlace: ConfirmingPlace = { height: -1, id: "" };

interface Confirmable {
  readonly verified: readonly Candidate[];
  readonly isMore: boolean;
}

export function makeWatcher(deps: WatcherDeps): Watcher {
  const { db, clock, network, client, pool } = deps;
  const { times } = deps;
  const logger = deps.logger.child({ network: network.id });
  const alarms = deps.alarms ?? createAlarms({ clock, logger });
  const verifier = makeVerifier({ ...deps, logger, alarms });
  const rangeSize = makeRangeSize(network.maxLogRange);
  const recorder = makeRecorder(deps);
  const finality = makeFinalityCheck({ ...deps, alarms });

  let tokens: { readonly at: Instant; readonly disabled: readonly string[] } | null = null;
  let confirmedUpTo = firstPlace;
  let releasedAt: Instant = 0;
  let problem: string | null = null;
  let droppedInRow = 0;
  let shorterSince: Instant | null = null;

  /** Returns the disabled tokens. Asks once a day, because the contract behind a proxy may change. */
  async function disabledTokens(): Promise<readonly string[]> {
    const at = clock.now();
    const againMs = tokens?.disabled.length === 0 ? day : disabledAgainMs;
    if (tokens !== null && at - tokens.at < againMs) return tokens.disabled;
    await checkChainId(client, network);
    tokens = { at, disabled: await findDisabledTokens(client, network, alarms) };
    return tokens.disabled;
  }

  /** Starts watching above the newest final block: an older transfer cannot be meant for an invoice of Till. */
  async function begin(disabled: readonly string[], guard: Guard): Promise<void> {
    const { latest, finalized } = await client.heads();
    await db.write(watcherContext, async (tx) => {
      await guard(tx);
      const final = { height: finalized.height, hash: finalized.hash };
      await keepBlocks(tx, network.id, [], [final]);
      await createState(tx, {
        network: network.id,
        chainId: network.chainId,
        cursorHeight: finalized.height,
        cursorHash: finalized.hash,
        cursorTime: ancestorTime(finalized, clock.now()),
        tipHeight: finalized.height,
        tipHash: finalized.hash,
        tipTime: finalized.time,
        headHeight: latest.height,
        scannedAt: clock.now(),
        disabledTokens: disabled,
        version: 1,
      });
    });
  }

  /** Scans the chain. Returns null if it replaced final blocks; the cursor was then set back to an unchanged one. */
  async function readChain(state: NetworkStateRow, guard: Guard): Promise<ChainChanges | null> {
    checkSameChain(state, network);
    const heads = await client.heads(knownOf(state));
    const base = await finality.changedSince(state, heads);
    if (base !== null) {
      await recorder.goBack(guard, state, base, heads.latest.height);
      shorterSince = null;
      return null;
    }
    assertNotBehind(state, heads.latest.height);
    const { invoices } = deps;
    const changes = await findChanges({
      db,
      client,
      network,
      invoices,
      times,
      state,
      heads,
      rangeSize,
    });
    report(changes.difference);
    return changes;
  }

  /** Throws AnswerDropped if the provider is behind. A chain that stays shorter is accepted and raises an alarm. */
  function assertNotBehind(state: NetworkStateRow, height: number): void {
    if (height >= state.tipHeight) {
      shorterSince = null;
      alarms.clear("tip_went_back", network.id);
      return;
    }
    shorterSince ??= clock.now();
    if (height < state.cursorHeight || clock.now() - shorterSince < shorterMs) {
      throw new AnswerDropped(
        `${client.provider} is behind: its newest block is below the newest block that was read`,
        null,
        { height, tipHeight: state.tipHeight },
      );
    }
    alarms.raise(
      "tip_went_back",
      network.id,
      "the chain is shorter than before, and is read again from its new end",
      { network: network.id, tipHeight: state.tipHeight, height },
    );
  }

  function report({ orphaned, contradicting }: WindowDifference): void {
    if (orphaned.length > 0) {
      logger.warn(
        { transfers: orphaned.length },
        "a reorganization removed transfers from the chain",
      );
    }
    const [first] = contradicting;
    if (first === undefined) return;
    const { transactionHash } = first;
    alarms.raise(
      "final_transaction_moved",
      transactionHash,
      "a provider has a final transaction in a second block; its transfers there are not entered",
      { transactionHash },
    );
  }

  /** Returns payments with enough confirmations at the new tip and agreeing receipts; continues after the last batch. */
  async function findConfirmable(
    height: number,
    moving: readonly TransferRow[],
  ): Promise<Confirmable> {
    const mature = await maturePayments(db, network.id, height, confirmedUpTo, confirmationsMax);
    const last = mature.at(-1);
    const isFull = last !== undefined && mature.length === confirmationsMax;
    confirmedUpTo = isFull ? { height: last.confirmsAtHeight, id: last.id } : firstPlace;
    const changing = new Set(moving.map(({ id }) => id));
    const staying = mature.filter(({ transferId }) => !changing.has(transferId));
    const transfers = await transfersById(
      db,
      staying.map(({ transferId }) => transferId),
    );
    const candidates = staying.flatMap((payment): Candidate[] => {
      const transfer = transfers.get(payment.transferId);
      return transfer === undefined ? [] : [{ payment, transfer }];
    });
    const verified = await verifier.verify(candidates);
    return { verified, isMore: isFull && verified.length > 0 };
  }

  /** Releases held payments that are no longer confirming. */
  async function releaseDecided(): Promise<void> {
    const held = verifier.held();
    if (held.length === 0 || Math.abs(clock.now() - releasedAt) < releaseEveryMs) return;
    releasedAt = clock.now();
    const waiting = await confirmingAmong(db, held);
    verifier.release(held.filter((id) => !waiting.has(id)));
  }

  async function lookOnce(guard: Guard): Promise<boolean> {
    await releaseDecided();
    const disabled = await disabledTokens();
    const state = await networkState(db, network.id);
    if (state === null) {
      await begin(disabled, guard);
      return true;
    }
    const changes = await readChain(state, guard);
    if (changes === null) return true;
    const { orphaned, moved } = changes.difference;
    const moving = [...orphaned, ...moved.map(({ transfer }) => transfer)];
    const { verified, isMore } = await findConfirmable(changes.read.to.height, moving);
    const after = nextState(state, changes.read, disabled, clock.now());
    const isUnchanged = isSame(changes.difference) && verified.length === 0;
    if (isUnchanged && !isWorthWriting(state, after)) return false;
    const findings = { changes, verified, disabledTokens: disabled };
    const recorded = await recorder.record(guard, state, findings);
    const hasMore = isMore && (await confirmOthers(guard, recorded.state));
    return isBehind(after) || hasMore || recorded.hasMature;
  }

  /** Confirms further batches of payments without scanning the chain in between; returns true if some are left. */
  async function confirmOthers(guard: Guard, recorded: NetworkStateRow): Promise<boolean> {
    const begun = clock.now();
    let state = recorded;
    while (Math.abs(clock.now() - begun) < confirmingForMs) {
      const { verified, isMore } = await findConfirmable(state.tipHeight, []);
      if (verified.length > 0) state = await recorder.confirm(guard, state, verified);
      if (!isMore) return false;
    }
    return true;
  }

  async function finalTime(): Promise<Instant | null> {
    const state = await networkState(db, network.id);
    if (state === null) return null;
    times.forgetBelow(state.cursorHeight);
    const { cursorHeight: height, cursorHash: hash } = state;
    const found = await times.of([{ height, hash, reported: null }]);
    return found.get(hash)?.time ?? null;
  }

  /** Retries a confirmation of block times while their alarm is open and no payment or hold requires one. */
  async function confirmTimesAgain(): Promise<void> {
    if (alarms.holds("block_time_unconfirmed", network.id)) await finalTime();
  }

  /** Reports a problem once, and once when it is over. */
  function setProblem(found: string | null, details: Readonly<Record<string, unknown>> = {}): void {
    if (found === problem) return;
    problem = found;
    if (found !== null) {
      const message = `the network cannot be read: ${found}`;
      alarms.raise("network_not_read", network.id, message, { ...details, problem: found });
      return;
    }
    logger.info("the network is being read again");
  }

  function dropped(error: AnswerDropped): void {
    droppedInRow += 1;
    logger.debug({ reason: error.message, ...error.details }, "a scan was dropped");
    if (error.fault === "left_out") pool?.distrust(error.message);
    else if (error.fault === "denies_final") pool?.passOver(error.message);
    else if (error.fault === "wrong_time") {
      pool?.doubtTime(client.provider, error.message, error.details);
    } else if (droppedInRow % droppedOfOneMax === 0) pool?.passOver(error.message);
    if (droppedInRow >= droppedMax) setProblem(error.message, error.details);
  }

  return {
    network,
    providers: deps.providers.map(({ provider }) => provider),
    async look(guard) {
      try {
        const isMore = await lookOnce(guard);
        droppedInRow = 0;
        setProblem(null);
        // Also ends an alarm that the previous process raised.
        alarms.clear("network_not_read", network.id);
        await confirmTimesAgain();
        return isMore;
      } catch (error) {
        if (error instanceof AnswerDropped) {
          dropped(error);
          return error.fault !== null && (pool?.isAnotherReady() ?? false);
        }
        // Another provider can be asked immediately.
        if (error instanceof ProviderError && pool?.isReady() === true) return true;
        if (!(error instanceof ProviderError || error instanceof NetworkStopped)) throw error;
        if (error instanceof NetworkStopped) pool?.passOver(error.message);
        setProblem(error.message);
        return false;
      }
    },
    finalTime,
    health: () => ({ problem, heldPayments: verifier.held().length }),
  };
}
