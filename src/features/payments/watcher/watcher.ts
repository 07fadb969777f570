import type { App } from "../../../app.ts";
import { second, type Clock, type Instant } from "../../../kernel/clock.ts";
import { createAlarms, type ChainAlarms } from "../../../platform/chain/state/alarms.ts";
import type { ChainClient, Heads, UnreadableLog } from "../../../platform/chain/client.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import { ProviderError } from "../../../platform/chain/providers/error.ts";
import type { ProviderPool } from "../../../platform/chain/providers/pool.ts";
import {
  createState,
  knownOf,
  networkState,
  type NetworkStateRow,
} from "../../../platform/chain/state/network-state.ts";
import { acceptedRanges, knownBlockUpTo } from "../../../platform/chain/state/reading-ranges.ts";
import { readingsOf } from "../../../platform/chain/state/readings.ts";
import type { Database } from "../../../platform/database/database.ts";
import type { Logger } from "../../../platform/logger/index.ts";
import { isSame, type WindowDifference } from "../ledger/chain-diff.ts";
import { markVerified, unverifiedAmong, unverifiedTransfers } from "../ledger/store.ts";
import {
  findChanges,
  makeAncestorTimes,
  recipientsMax,
  type ChainChanges,
} from "./read-changes.ts";
import type { BlockTimes } from "./block-times.ts";
import {
  ReplyDropped,
  BlockMissing,
  makeRangeSize,
  reportUnreadable,
  TransferOmitted,
  type RangeSize,
} from "./chain-reader.ts";
import { makeConfirmations } from "./confirmations.ts";
import { ancestorTime, isBehind, isWorthWriting, nextState, seenAt } from "./cursor.ts";
import { makeFinalityCheck, type FinalityCheck } from "./finality.ts";
import { makeGapSearch, type GapSearch } from "./gaps.ts";
import {
  checkSameChain,
  makeTipCheck,
  makeTokenCheck,
  NetworkStopped,
  noteLag,
  type TipCheck,
} from "./network-checks.ts";
import { lowestIncomplete } from "./readings/reading-plan.ts";
import { beginWalletReading } from "./readings/wallet-reading.ts";
import { makeVerifier, type Verifier } from "./receipt-verifier.ts";
import { recordScan, setCursorBack, skipGap, watcherContext, type LeaseGuard } from "./recorder.ts";

export interface WatcherDeps {
  readonly app: App;
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
    | "isReady"
    | "isAnotherReady"
    | "unusableSince"
    | "readmittedAt"
    | "distrust"
    | "passOver"
    | "suspectTime"
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
  /** Restarts the wait for confirmations of changes; called after another process has read the network. */
  resume(): void;
  /**
   * Scans the chain once, and stores the findings in one transaction, or several if there are very many. Returns true if
   * more work is due. A failing provider or inconsistent answers end the scan without effect; the next one makes up for
   * it.
   */
  scan(guard: LeaseGuard): Promise<boolean>;
  /**
   * Returns the time by which holds are released: that of the newest final block up to which every block has had all of
   * its readings. A payment that a provider hid until then still finds its hold. Null while the time is unknown or, with
   * two or more providers, while no two agree on it.
   */
  finalTime(): Promise<Instant | null>;
  /** Returns why the network cannot be read, or null, and the number of payments that a provider's contradiction holds. */
  health(): { readonly problem: string | null; readonly heldPayments: number };
}

/** The number of consecutive dropped scans after which a problem is reported. */
const droppedMax = 5;
/** The number after which another provider is asked; a chain that changes during scans also causes dropped ones. */
const droppedOfOneMax = 3;

/** The dependencies of one network's watcher, with its own logger and its alarms. */
type ScanDeps = WatcherDeps & { readonly alarms: ChainAlarms };

export function makeWatcher(deps: WatcherDeps): Watcher {
  const { app, db, clock, network, times } = deps;
  const logger = deps.logger.child({ network: network.id });
  const alarms = deps.alarms ?? createAlarms({ clock, logger });
  const own: ScanDeps = { ...deps, logger, alarms };
  const verifier = makeVerifier({ ...own, subject: "payment" });
  const transfers = makeTransferVerifier({
    ...deps,
    verifier: makeVerifier({ ...own, subject: "transfer" }),
  });
  const finality = makeFinalityCheck(own);
  const tip = makeTipCheck(own);
  const rangeSize = makeRangeSize(network.maxLogRange);
  const gaps = makeGapSearch({ ...own, rangeSize });
  const readChanges = makeChangeReader(own, { finality, tip, gaps, rangeSize });
  const confirmations = makeConfirmations({ ...deps, verifier });
  const disabledTokens = makeTokenCheck(own);
  const problems = makeProblemReport(own);

  async function scanOnce(guard: LeaseGuard): Promise<boolean> {
    await confirmations.releaseDecided();
    const disabled = await disabledTokens();
    const state = await networkState(db, network.id);
    if (state === null) {
      await begin(deps, disabled, guard);
      return true;
    }
    const changes = await readChanges(state, guard);
    if (changes === null) return true;
    const { orphaned, moved } = changes.difference;
    const moving = [...orphaned, ...moved.map(({ transfer }) => transfer)];
    const { verified, isMore } = await confirmations.find(changes.read.to.height, moving);
    const after = nextState(state, changes.read, disabled, clock.now());
    const isUnchanged = isSame(changes.difference) && verified.length === 0;
    if (isUnchanged && !isWorthWriting(state, after)) return false;
    const findings = { changes, verified, disabledTokens: disabled };
    const recorded = await recordScan(app, network, guard, state, findings);
    const hasMore = isMore && (await confirmations.confirmOthers(guard, recorded.state));
    return isBehind(after) || hasMore || recorded.hasMature;
  }

  async function finalTime(): Promise<Instant | null> {
    const state = await networkState(db, network.id);
    if (state === null) return null;
    const rows = await readingsOf(db, network.id);
    const open = lowestIncomplete(rows, await acceptedRanges(db, network.id));
    const isOpen = open !== null && open.fromHeight <= state.cursorHeight;
    const complete = isOpen
      ? knownBlockUpTo(rows, open.fromHeight - 1)
      : { height: state.cursorHeight, hash: state.cursorHash };
    if (complete === null) return null;
    const { height, hash } = complete;
    times.forgetBelow(height);
    const found = await times.of([{ height, hash, reported: null }]);
    return found.get(hash)?.time ?? null;
  }

  return {
    network,
    providers: deps.providers.map(({ provider }) => provider),
    resume() {
      finality.resume();
      tip.resume();
      gaps.resume();
    },
    async scan(guard) {
      try {
        const isMore = await scanOnce(guard);
        const hasUnverified = await transfers.run(guard);
        problems.over();
        // Retries a confirmation of block times while no payment or hold requires one.
        if (alarms.holds("block_time_unconfirmed", network.id)) await finalTime();
        return isMore || hasUnverified;
      } catch (error) {
        return problems.note(error);
      }
    },
    finalTime,
    health: () => ({ problem: problems.current(), heldPayments: verifier.held().length }),
  };
}

/** Starts watching above the newest final block: an older transfer cannot be meant for an invoice of Till. */
async function begin(
  { db, clock, network, client }: WatcherDeps,
  disabled: readonly string[],
  guard: LeaseGuard,
): Promise<void> {
  const { latest, finalized } = await client.heads();
  await db.write(watcherContext, async (tx) => {
    await guard(tx);
    await createState(tx, {
      network: network.id,
      chainId: network.chainId,
      cursorHeight: finalized.height,
      cursorHash: finalized.hash,
      cursorTime: ancestorTime(finalized, clock.now()),
      tipHeight: finalized.height,
      tipHash: finalized.hash,
      tipTime: finalized.time,
      tipSeenAt: seenAt(finalized, latest, clock.now()),
      headHeight: latest.height,
      scannedAt: clock.now(),
      usualLagMs: 0,
      disabledTokens: disabled,
      version: 1,
    });
    await beginWalletReading(tx, network.id, finalized.height, clock.now());
  });
}

/**
 * Returns the function that scans the chain above the stored state. It returns null if the chain replaced final blocks,
 * and the cursor was set back to an unchanged one; or while it searches for the end of a range that no provider reads any
 * more, and once it has set the cursor above that range.
 */
function makeChangeReader(
  deps: ScanDeps,
  {
    finality,
    tip,
    gaps,
    rangeSize,
  }: {
    readonly finality: FinalityCheck;
    readonly tip: TipCheck;
    readonly gaps: GapSearch;
    readonly rangeSize: RangeSize;
  },
): (state: NetworkStateRow, guard: LeaseGuard) => Promise<ChainChanges | null> {
  const { app, network, client } = deps;
  const ancestors = makeAncestorTimes(deps);

  async function read(
    state: NetworkStateRow,
    heads: Heads,
    notAbove: number,
    guard: LeaseGuard,
  ): Promise<ChainChanges | null> {
    const base = await finality.changedSince(state, heads);
    if (base !== null) {
      await setCursorBack(app, network, guard, state, base, heads.latest.height);
      return null;
    }
    tip.assertNotBehind(state, heads.latest.height);
    const hasAlternative = () => isAnotherReady(deps);
    const changes = await findChanges({
      ...deps,
      state,
      heads,
      rangeSize,
      ancestors,
      hasAlternative,
      notAbove,
    });
    if (changes.read.to.hash === heads.latest.hash) noteLag(deps, state, heads.latest);
    judgeUnreadable(deps, changes.read.unreadable);
    const { wrongTime } = changes;
    if (wrongTime !== null) {
      deps.pool?.suspectTime(client.provider, wrongTime.message, wrongTime.details);
    }
    report(deps, changes.difference);
    reportUnfiltered(deps, changes.isUnfiltered);
    return changes;
  }

  return async (state, guard) => {
    checkSameChain(state, network);
    const heads = await client.heads(knownOf(state));
    const gap = await gaps.step(state, heads);
    if (gap === "searching") return null;
    if (gap !== null && "found" in gap) {
      await skipGap(app, network, guard, state, gap.found, heads.latest.height);
      return null;
    }
    try {
      const changes = await read(state, heads, gap?.notAbove ?? Infinity, guard);
      gaps.succeeded();
      return changes;
    } catch (error) {
      if (error instanceof ProviderError || error instanceof BlockMissing) gaps.suspect();
      throw error;
    }
  };
}

/** Lets another provider be read instead of one whose logs cannot be read, or reports them without another provider. */
function judgeUnreadable(deps: ScanDeps, unreadable: readonly UnreadableLog[]): void {
  if (unreadable.length === 0) return;
  if (isAnotherReady(deps)) {
    throw new ReplyDropped("it lists logs that cannot be read", "unreadable_log");
  }
  reportUnreadable(deps, deps.client.provider, unreadable);
}

function isAnotherReady({ providers, pool }: ScanDeps): boolean {
  return providers.length > 1 && pool?.isAnotherReady() === true;
}

/** Reports transfers that a reorganization removed, and transactions that a provider has in two final blocks. */
function report({ logger, alarms }: ScanDeps, { orphaned, contradicting }: WindowDifference): void {
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

/** Reports that so many addresses are watched that every transfer of the network is fetched, until there are fewer. */
function reportUnfiltered({ network, alarms }: ScanDeps, isUnfiltered: boolean): void {
  if (!isUnfiltered) {
    alarms.clear("addresses_unfiltered", network.id);
    return;
  }
  alarms.raise(
    "addresses_unfiltered",
    network.id,
    `more than ${String(recipientsMax)} addresses of unpaid invoices are watched, so every transfer of the network is ` +
      "fetched. Check who issues so many invoices, and the provider's traffic",
  );
}

interface ProblemReport {
  /** Returns why the network cannot be read; null if it can be. */
  current(): string | null;
  /** Ends the problem after a successful scan. */
  over(): void;
  /** Handles the error of a scan; returns true if another provider can be asked immediately. Rethrows other errors. */
  note(error: unknown): boolean;
}

function makeProblemReport(deps: ScanDeps): ProblemReport {
  const { network, client, pool, logger, alarms } = deps;
  let problem: string | null = null;
  let droppedInRow = 0;

  /** Reports a problem once. */
  function setProblem(found: string, details: Readonly<Record<string, unknown>> = {}): void {
    if (found === problem) return;
    problem = found;
    const message = `the network cannot be read: ${found}`;
    alarms.raise("network_not_read", network.id, message, { ...details, problem: found });
  }

  function dropped(error: ReplyDropped): void {
    droppedInRow += 1;
    logger.debug({ reason: error.message, ...error.details }, "a scan was dropped");
    if (error instanceof TransferOmitted) pool?.distrust(error.message, error.omitted);
    else if (error.fault === "denies_final" || error.fault === "unreadable_log") {
      pool?.passOver(error.message);
    } else if (error.fault === "wrong_time") {
      pool?.suspectTime(client.provider, error.message, error.details);
    } else if (droppedInRow % droppedOfOneMax === 0) pool?.passOver(error.message);
    if (droppedInRow >= droppedMax) setProblem(error.message, error.details);
  }

  return {
    current: () => problem,
    over() {
      droppedInRow = 0;
      if (problem !== null) logger.info("the network is being read again");
      problem = null;
      // Also ends an alarm that the previous process raised.
      alarms.clear("network_not_read", network.id);
    },
    note(error) {
      if (error instanceof ReplyDropped) {
        dropped(error);
        return error.fault !== null && (pool?.isAnotherReady() ?? false);
      }
      if (error instanceof ProviderError && pool?.isReady() === true) return true;
      if (!(error instanceof ProviderError || error instanceof NetworkStopped)) throw error;
      if (error instanceof NetworkStopped) pool?.passOver(error.message);
      setProblem(error.message);
      return false;
    },
  };
}

/** The largest number of transfers that are verified together. */
const transfersMax = 100;
/** How often held transfers are checked for a decision, in milliseconds. */
const releaseEveryMs = 15 * second;

/**
 * Verifies the final transfers of one network that count for no invoice, such as those of payments in review. Nothing
 * else compares them with a second provider, and their money may be refunded.
 */
interface TransferVerifier {
  /** Verifies a bounded number; returns true if more are due. */
  run(guard: LeaseGuard): Promise<boolean>;
}

export function makeTransferVerifier(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly network: Network;
  readonly verifier: Verifier;
}): TransferVerifier {
  const { db, clock, network, verifier } = deps;
  let checkedUpTo = "";
  let releasedAt: Instant = 0;

  /** Releases held transfers that are no longer to be verified. */
  async function releaseDecided(): Promise<void> {
    const held = verifier.held();
    if (held.length === 0 || Math.abs(clock.now() - releasedAt) < releaseEveryMs) return;
    releasedAt = clock.now();
    const waiting = await unverifiedAmong(db, held);
    verifier.release(held.filter((id) => !waiting.has(id)));
  }

  return {
    async run(guard) {
      await releaseDecided();
      const due = await unverifiedTransfers(db, network.id, checkedUpTo, transfersMax);
      const isFull = due.length === transfersMax;
      checkedUpTo = isFull ? (due.at(-1)?.id ?? "") : "";
      const agreed = await verifier.verify(
        due.map((transfer) => {
          const { id, blockHeight: confirmsAtHeight } = transfer;
          return { id, confirmsAtHeight, transfer };
        }),
      );
      if (agreed.size === 0) return false;
      await db.write(watcherContext, async (tx) => {
        await guard(tx);
        await markVerified(
          tx,
          due.filter(({ id }) => agreed.has(id)),
        );
      });
      return isFull;
    },
  };
}
