import { hour, minute, second, type Clock, type Instant } from "../../../kernel/clock.ts";
import type { Journal } from "../../../platform/journal/index.ts";
import { restSubject, type ChainAlarms } from "../../../platform/chain/state/alarms.ts";
import type { ChainClient } from "../../../platform/chain/client.ts";
import { writeAlarms } from "../../../platform/chain/state/provider-store.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import { ProviderError } from "../../../platform/chain/providers/error.ts";
import type { ProviderHealth } from "../../../platform/chain/state/provider-health.ts";
import type { ProviderPool } from "../../../platform/chain/providers/pool.ts";
import { isContradicted } from "../../../platform/chain/state/reading-ranges.ts";
import { dropReadings, readingsOf } from "../../../platform/chain/state/readings.ts";
import { networkState, type NetworkState } from "../../../platform/chain/state/network-state.ts";
import type { Database, Tx } from "../../../platform/database/index.ts";
import { makeJudge, placeOf, rangeOf, type Judgement } from "./judgement.ts";
import { AnswerDropped, makeRangeSize, type RangeSize } from "./chain-reader.ts";
import type { WatchTimes } from "../ledger/invoices-port.ts";
import {
  chooseReader,
  isAble,
  isOfEarlierVersion,
  makePace,
  nextDueRange,
  type DueRange,
} from "./reading-plan.ts";
import { watcherContext, type Guard } from "./recorder.ts";
import type { RangeReading, Scanner } from "./rescanner.ts";
import type { BlockRange, TimedLog } from "../ledger/chain-diff.ts";

/**
 * Reads final blocks again, two minutes and one hour after the previous reading, from another provider if there is one:
 * an index that lags behind its node, or a provider that omits transfers, hides no payment for longer than that. The
 * progress is kept in the store.
 */
export interface ProviderCrossCheck {
  /**
   * Reads the next due range and periodically re-checks open disagreements between providers, within a limit of
   * requests. Returns true if more work is due.
   */
  compare(guard: Guard): Promise<boolean>;
}

/** Poll interval for due ranges while none is due, in milliseconds. */
const checkEveryMs = 15 * second;
/** How long a provider is set aside after a failed reading, in milliseconds. */
const setAsideMs = minute;
/** How often, in milliseconds, and how many open disagreements are re-checked. */
const againMs = 10 * minute;
const againMax = 20;

/** A provider with its health. */
interface Candidate extends Pick<ProviderHealth, "provider" | "isInUse" | "place"> {
  readonly client: ChainClient;
}

export function makeProviderCrossCheck(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly network: Network;
  readonly journal: Journal;
  readonly invoices: WatchTimes;
  readonly pool: Pick<ProviderPool, "providers" | "health" | "distrust">;
  readonly alarms: ChainAlarms;
  readonly scanner: Scanner;
}): ProviderCrossCheck {
  const { db, clock, network, journal, invoices, pool, alarms, scanner } = deps;
  const judge = makeJudge({ pool, alarms, scanner });
  const pace = makePace(clock);
  const sizes = new Map<string, RangeSize>();
  /** The time of the last failed reading, by provider. */
  const failedAt = new Map<string, Instant>();
  /** Providers that omit transfers and whose readings were therefore withdrawn. */
  const takenBack = new Set<string>();
  let checkedAt: Instant = clock.now();
  let askedAgainAt: Instant = 0;
  /** The subject of the last re-checked disagreement. */
  let lastAgain = "";
  let oldest: { readonly at: Instant; readonly height: number } | null = null;

  /** Returns the usable providers in order of preference; their eth_getLogs requests count against the limit. */
  function candidates(): Candidate[] {
    const now = clock.now();
    const health = pool.health();
    return pool.providers.flatMap((client, place): Candidate[] => {
      const own = health[place];
      const failed = failedAt.get(client.provider);
      const isSetAside = failed !== undefined && Math.abs(now - failed) < setAsideMs;
      if (own === undefined || !isAble(own) || isSetAside) return [];
      const { provider, isInUse } = own;
      return [{ provider, isInUse, place, client: paced(client) }];
    });
  }

  function paced(client: ChainClient): ChainClient {
    return {
      ...client,
      transfers(query) {
        pace.count();
        return client.transfers(query);
      },
    };
  }

  function sizeOf(provider: string): RangeSize {
    const size = sizes.get(provider) ?? makeRangeSize(network.maxLogRange);
    sizes.set(provider, size);
    return size;
  }

  /** Returns the provider that is asked about transfers that only `provider` lists: preferably the one in use. */
  function otherThan({ provider }: Candidate, able: readonly Candidate[]): ChainClient | null {
    const others = able.filter((each) => each.provider !== provider);
    return (others.find(({ isInUse }) => isInUse) ?? others[0])?.client ?? null;
  }

  /** Estimates the lowest block that can hold a payment for an open hold from the block time; cached for an hour. */
  async function oldestHeight({ tipHeight, tipTime }: NetworkState): Promise<number> {
    const now = clock.now();
    if (oldest !== null && Math.abs(now - oldest.at) < hour) return oldest.height;
    const since = await invoices.oldestHold(db, network.id);
    const blocks = since === null ? 0 : Math.ceil((tipTime - since) / network.blockTimeMs);
    oldest = { at: now, height: since === null ? tipHeight + 1 : Math.max(0, tipHeight - blocks) };
    return oldest.height;
  }

  async function nextRange(): Promise<DueRange | null> {
    const state = await networkState(db, network.id);
    if (state === null) return null;
    const rows = await readingsOf(db, network.id);
    const oldestHold = rows.some(isOfEarlierVersion) ? await oldestHeight(state) : 0;
    const { cursorHeight } = state;
    return nextDueRange(rows, { cursorHeight, now: clock.now(), oldestHold }, network.maxLogRange);
  }

  /**
   * Withdraws the readings that a provider made since its last good probe, once it is found to omit transfers. If no
   * probe ever proved its logs, every block that can matter to an open hold is read again.
   */
  async function takeBack(guard: Guard): Promise<void> {
    for (const { provider, condition, provenAt } of pool.health()) {
      if (condition !== "silent_logs") takenBack.delete(provider);
      if (condition !== "silent_logs" || takenBack.has(provider)) continue;
      const state = await networkState(db, network.id);
      if (state === null) return;
      const after = provenAt ?? null;
      const fromHeight = after === null ? await oldestHeight(state) : 0;
      await db.write(watcherContext, async (tx) => {
        await guard(tx);
        await dropReadings(tx, network.id, { provider, after: after ?? -1, fromHeight });
      });
      takenBack.add(provider);
    }
  }

  /**
   * Drops a reading whose final blocks differ from those read before, unless another provider has the same blocks: the
   * provider is on another chain, and its reading proves nothing.
   */
  async function assertOneChain(
    { rows }: DueRange,
    reading: RangeReading,
    other: ChainClient | null,
  ): Promise<void> {
    const { provider, parent, end } = reading;
    const before = { height: reading.from - 1, hash: parent?.hash ?? null };
    const isOther = rows.some((row) => isContradicted(row, { parent: before, to: end }));
    if (!isOther || other === null) return;
    const [block] = await other.blocks([end.height]);
    if (block?.hash === end.hash) return;
    throw new AnswerDropped(
      `the final blocks of ${provider} differ from those that were read before`,
    );
  }

  /** Reads one range from one provider and enters the listed transfers that are not on record. */
  async function readRange(
    guard: Guard,
    { range, reader, able, due }: ReadRequest,
  ): Promise<Judgement> {
    try {
      const reading = await scanner.read(reader.client, sizeOf(reader.provider), range);
      const other = otherThan(reader, able);
      if (due !== null) await assertOneChain(due, reading, other);
      const judgement = await judge.judge(reading, other);
      await enter(guard, reading, judgement, due !== null);
      return judgement;
    } catch (error) {
      if (isTriedAgain(error)) failedAt.set(reader.provider, clock.now());
      throw error;
    }
  }

  /** Enters transfers, with an alarm and an audit entry for each one that the watcher should have found. */
  async function enter(
    guard: Guard,
    reading: RangeReading,
    { difference, provenLeftOut }: Judgement,
    isReading: boolean,
  ): Promise<void> {
    const { fresh } = difference;
    const since = await invoices.watchedSince(
      db,
      network.id,
      fresh.map(({ to }) => to),
    );
    const isLeftOut = (log: TimedLog) =>
      provenLeftOut.has(placeOf(log)) || log.blockTime >= (since.get(log.to) ?? Infinity);
    for (const log of fresh.filter(isLeftOut)) raiseLeftOut(log);
    const changes = alarms.changes();
    await scanner.record(
      watcherContext,
      { ...reading, difference },
      {
        guard,
        isReading,
        async within(tx, entered) {
          await writeAlarms(tx, network.id, changes, clock.now());
          for (const log of entered.filter(isLeftOut)) auditLeftOut(tx, log, reading.provider);
        },
      },
    );
    alarms.written(changes);
  }

  function raiseLeftOut({ transactionHash, blockHeight }: TimedLog): void {
    alarms.raise(
      "transfer_left_out",
      transactionHash,
      `a transfer to us in block ${String(blockHeight)} was missing when the block was first read; ` +
        "a later reading entered it. Check its invoice, and consider replacing the provider",
      { network: network.id, transactionHash, blockHeight },
    );
  }

  function auditLeftOut(tx: Tx, log: TimedLog, provider: string): void {
    const { transactionHash, logIndex, blockHeight } = log;
    journal.record(tx, clock.now(), {
      action: "chain.transfer_left_out",
      organizationId: null,
      subjectType: "network",
      subjectId: network.id,
      changes: { transactionHash, logIndex, blockHeight, enteredFrom: provider },
    });
  }

  /** Re-checks open disagreements: a provider may have recovered or been replaced. */
  async function compareAgainLater(guard: Guard): Promise<void> {
    if (Math.abs(clock.now() - askedAgainAt) < againMs) return;
    const able = candidates();
    const first = able.find(({ isInUse }) => isInUse);
    const reader = able.find(({ isInUse }) => !isInUse);
    if (first === undefined || reader === undefined) return;
    askedAgainAt = clock.now();
    const subjects = alarms
      .open()
      .filter(({ kind, subject }) => kind === "providers_disagree" && subject !== restSubject)
      .map(({ subject }) => subject)
      .sort();
    const later = subjects.filter((subject) => subject > lastAgain);
    const asked = [...later, ...subjects].slice(0, Math.min(againMax, subjects.length));
    for (const subject of new Set(asked)) {
      if (!pace.isWithin()) return;
      lastAgain = subject;
      const range = rangeOf(subject) ?? (await blockOf(reader.client, subject));
      const judgement =
        range === null ? null : await readRange(guard, { range, reader, able, due: null });
      const isOver = rangeOf(subject) === null && judgement?.denied.has(subject) !== true;
      if (isOver) alarms.clear("providers_disagree", subject);
    }
  }

  async function readNext(guard: Guard): Promise<boolean> {
    const due = await nextRange();
    if (due === null) return false;
    const able = candidates();
    const reader = chooseReader(able, due);
    if (reader === null) return false;
    const from = Math.max(due.from, due.to - sizeOf(reader.provider).current() + 1);
    const before = pace.counted();
    await readRange(guard, { range: { from, to: due.to }, reader, able, due });
    // Without watched addresses no logs are requested, only block hashes: that counts as one request.
    if (pace.counted() === before) pace.count();
    return (await nextRange()) !== null;
  }

  return {
    async compare(guard) {
      if (Math.abs(clock.now() - checkedAt) < checkEveryMs || !pace.isWithin()) return false;
      try {
        await takeBack(guard);
        await compareAgainLater(guard);
        const isMore = pace.isWithin() && (await readNext(guard));
        if (!isMore) checkedAt = clock.now();
        return isMore && pace.isWithin();
      } catch (error) {
        if (!isTriedAgain(error)) throw error;
        checkedAt = clock.now();
        return false;
      }
    },
  };
}

interface ReadRequest {
  readonly range: BlockRange;
  readonly reader: Candidate;
  readonly able: readonly Candidate[];
  /** Null if it does not count as a reading. */
  readonly due: DueRange | null;
}

/** Returns the block in which a provider has a transaction; null if it does not have the transaction. */
async function blockOf(client: ChainClient, transactionHash: string): Promise<BlockRange | null> {
  const receipt = await client.receipt(transactionHash);
  return receipt === null ? null : { from: receipt.blockHeight, to: receipt.blockHeight };
}

function isTriedAgain(error: unknown): boolean {
  return error instanceof ProviderError || error instanceof AnswerDropped;
}
