import { bind, type Bound } from "../../../kernel/bind.ts";
import { hour, minute, second, type Clock, type Instant } from "../../../kernel/clock.ts";
import type { Journal } from "../../../platform/journal/index.ts";
import { restSubject, type ChainAlarms } from "../../../platform/chain/state/alarms.ts";
import type { ChainClient } from "../../../platform/chain/client.ts";
import { writeAlarms } from "../../../platform/chain/state/provider-store.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import { ProviderError } from "../../../platform/chain/providers/error.ts";
import type { ProviderPool } from "../../../platform/chain/providers/pool.ts";
import { isContradicted } from "../../../platform/chain/state/reading-ranges.ts";
import { dropReadings, readingsOf } from "../../../platform/chain/state/readings.ts";
import { networkState, type NetworkState } from "../../../platform/chain/state/network-state.ts";
import type { Database, Tx } from "../../../platform/database/index.ts";
import { makeJudge, rangeOf, type Judge, type Judgement } from "./judgement.ts";
import { AnswerDropped, makeRangeSize, reportUnreadable, type RangeSize } from "./chain-reader.ts";
import type { WatchTimes } from "../ledger/invoices-port.ts";
import {
  chooseReader,
  isOfEarlierVersion,
  makePace,
  makeReadingCandidates,
  nextDueRange,
  otherThan,
  type Candidate,
  type DueRange,
  type Pace,
  type ReadingCandidates,
} from "./readings/reading-plan.ts";
import { watcherContext, type Guard } from "./recorder.ts";
import { withdrawWalletReading } from "./readings/wallet-rounds.ts";
import type { RangeReading, Scanner } from "./readings/rescanner.ts";
import { placeOf, type BlockRange, type TimedLog } from "../ledger/chain-diff.ts";

/**
 * Reads final blocks again, two minutes and one hour after the previous reading, from another provider if there is one:
 * an index that lags behind its node, or a provider that omits transfers, hides no payment for longer than that. The
 * progress is kept in the store.
 */
export type ProviderCrossCheck = Bound<typeof methods>;

/** Poll interval for due ranges while none is due, in milliseconds. */
const checkEveryMs = 15 * second;
/** How often, in milliseconds, and how many open disagreements are re-checked. */
const againMs = 10 * minute;
const againMax = 20;

interface Deps {
  readonly db: Database;
  readonly clock: Clock;
  readonly network: Network;
  readonly journal: Journal;
  readonly invoices: WatchTimes;
  readonly pool: Pick<ProviderPool, "providers" | "health" | "distrust">;
  readonly alarms: ChainAlarms;
  readonly scanner: Scanner;
}

type State = Deps & {
  readonly judge: Judge;
  readonly pace: Pace;
  readonly sizes: Map<string, RangeSize>;
  readonly candidates: ReadingCandidates;
  /** Providers that omit transfers and whose readings were therefore withdrawn. */
  readonly takenBack: Set<string>;
  checkedAt: Instant;
  askedAgainAt: Instant;
  /** The subject of the last re-checked disagreement. */
  lastAgain: string;
  oldest: { readonly at: Instant; readonly height: number } | null;
};

const methods = { compare };

export function makeProviderCrossCheck(deps: Deps): ProviderCrossCheck {
  const { clock, pool } = deps;
  const pace = makePace(clock);
  const self: State = {
    ...deps,
    pace,
    judge: makeJudge(deps),
    candidates: makeReadingCandidates(clock, pool, pace),
    sizes: new Map(),
    takenBack: new Set(),
    checkedAt: clock.now(),
    askedAgainAt: 0,
    lastAgain: "",
    oldest: null,
  };
  return bind(self, methods);
}

/**
 * Reads the next due range and periodically re-checks open disagreements between providers, within a limit of
 * requests. Returns true if more work is due.
 */
async function compare(self: State, guard: Guard): Promise<boolean> {
  const { clock, pace } = self;
  if (Math.abs(clock.now() - self.checkedAt) < checkEveryMs || !pace.isWithin()) return false;
  try {
    await takeBack(self, guard);
    await compareAgainLater(self, guard);
    const isMore = pace.isWithin() && (await readNext(self, guard));
    if (!isMore) self.checkedAt = clock.now();
    return isMore && pace.isWithin();
  } catch (error) {
    if (!isTriedAgain(error)) throw error;
    self.checkedAt = clock.now();
    return false;
  }
}

function sizeOf({ network, sizes }: State, provider: string): RangeSize {
  const size = sizes.get(provider) ?? makeRangeSize(network.maxLogRange);
  sizes.set(provider, size);
  return size;
}

/** Estimates the lowest block that can hold a payment for an open hold from the block time; cached for an hour. */
async function oldestHeight(self: State, { tipHeight, tipTime }: NetworkState): Promise<number> {
  const { db, clock, network, invoices } = self;
  const now = clock.now();
  if (self.oldest !== null && Math.abs(now - self.oldest.at) < hour) return self.oldest.height;
  const since = await invoices.oldestHold(db, network.id);
  const blocks = since === null ? 0 : Math.ceil((tipTime - since) / network.blockTimeMs);
  self.oldest = {
    at: now,
    height: since === null ? tipHeight + 1 : Math.max(0, tipHeight - blocks),
  };
  return self.oldest.height;
}

async function nextRange(self: State): Promise<DueRange | null> {
  const { db, clock, network } = self;
  const state = await networkState(db, network.id);
  if (state === null) return null;
  const rows = await readingsOf(db, network.id);
  const oldestHold = rows.some(isOfEarlierVersion) ? await oldestHeight(self, state) : 0;
  const { cursorHeight } = state;
  return nextDueRange(rows, { cursorHeight, now: clock.now(), oldestHold }, network.maxLogRange);
}

/**
 * Withdraws the readings that a provider made since its last good probe, once it is found to omit transfers. If no
 * probe ever proved its logs, every block that can matter to an open hold is read again.
 */
async function takeBack(self: State, guard: Guard): Promise<void> {
  const { db, network, pool, takenBack } = self;
  for (const { provider, condition, provenAt } of pool.health()) {
    if (condition !== "silent_logs") takenBack.delete(provider);
    if (condition !== "silent_logs" || takenBack.has(provider)) continue;
    const state = await networkState(db, network.id);
    if (state === null) return;
    const after = provenAt ?? null;
    const fromHeight = after === null ? await oldestHeight(self, state) : 0;
    await db.write(watcherContext, async (tx) => {
      await guard(tx);
      await dropReadings(tx, network.id, { provider, after: after ?? -1, fromHeight });
      await withdrawWalletReading(tx, network.id);
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
  self: State,
  guard: Guard,
  { range, reader, able, due }: ReadRequest,
): Promise<Judgement> {
  const { scanner, judge, candidates } = self;
  try {
    const reading = await scanner.read(reader.client, sizeOf(self, reader.provider), range);
    const other = otherThan(reader, able);
    if (reading.unreadable.length > 0 && other !== null) {
      throw new AnswerDropped(`${reader.provider} lists logs that cannot be read`);
    }
    reportUnreadable(self, reader.provider, reading.unreadable);
    if (due !== null) await assertOneChain(due, reading, other);
    const judgement = await judge.judge(reading, other);
    await enter(self, guard, reading, judgement, due !== null);
    return judgement;
  } catch (error) {
    if (isTriedAgain(error)) candidates.setAside(reader.provider);
    throw error;
  }
}

/** Enters transfers, with an alarm and an audit entry for each one that the watcher should have found. */
async function enter(
  self: State,
  guard: Guard,
  reading: RangeReading,
  { difference, provenLeftOut }: Judgement,
  isReading: boolean,
): Promise<void> {
  const { db, clock, network, invoices, alarms, scanner } = self;
  const { fresh } = difference;
  const since = await invoices.watchedSince(
    db,
    network.id,
    fresh.map(({ to }) => to),
  );
  const isLeftOut = (log: TimedLog) =>
    provenLeftOut.has(placeOf(log)) || log.blockTime >= (since.get(log.to) ?? Infinity);
  for (const log of fresh.filter(isLeftOut)) raiseLeftOut(self, log);
  const changes = alarms.changes();
  await scanner.record(
    watcherContext,
    { ...reading, difference },
    {
      guard,
      ...(isReading ? {} : { close: () => Promise.resolve() }),
      async within(tx, entered) {
        await writeAlarms(tx, network.id, changes, clock.now());
        for (const log of entered.filter(isLeftOut)) auditLeftOut(self, tx, log, reading.provider);
      },
    },
  );
  alarms.written(changes);
}

function raiseLeftOut(
  { network, alarms }: State,
  { transactionHash, blockHeight }: TimedLog,
): void {
  alarms.raise(
    "transfer_left_out",
    transactionHash,
    `a transfer to us in block ${String(blockHeight)} was missing when the block was first read; ` +
      "a later reading entered it. Check its invoice, and consider replacing the provider",
    { network: network.id, transactionHash, blockHeight },
  );
}

function auditLeftOut(
  { clock, network, journal }: State,
  tx: Tx,
  log: TimedLog,
  provider: string,
): void {
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
async function compareAgainLater(self: State, guard: Guard): Promise<void> {
  const { clock, alarms, pace, candidates } = self;
  if (Math.abs(clock.now() - self.askedAgainAt) < againMs) return;
  const able = candidates.list();
  const first = able.find(({ isInUse }) => isInUse);
  const reader = able.find(({ isInUse }) => !isInUse);
  if (first === undefined || reader === undefined) return;
  self.askedAgainAt = clock.now();
  const subjects = alarms
    .open()
    .filter(({ kind, subject }) => kind === "providers_disagree" && subject !== restSubject)
    .map(({ subject }) => subject)
    .sort();
  const later = subjects.filter((subject) => subject > self.lastAgain);
  const asked = [...new Set([...later, ...subjects])].slice(0, againMax);
  for (const subject of asked) {
    if (!pace.isWithin()) return;
    self.lastAgain = subject;
    const range = rangeOf(subject) ?? (await blockOf(reader.client, subject));
    const judgement =
      range === null ? null : await readRange(self, guard, { range, reader, able, due: null });
    const isOver = rangeOf(subject) === null && judgement?.denied.has(subject) !== true;
    if (isOver) alarms.clear("providers_disagree", subject);
  }
}

async function readNext(self: State, guard: Guard): Promise<boolean> {
  const { pace, candidates } = self;
  const due = await nextRange(self);
  if (due === null) return false;
  const able = candidates.list();
  const reader = chooseReader(able, due);
  if (reader === null) return false;
  const from = Math.max(due.from, due.to - sizeOf(self, reader.provider).current() + 1);
  const before = pace.counted();
  await readRange(self, guard, { range: { from, to: due.to }, reader, able, due });
  // Without watched addresses no logs are requested, only block hashes: that counts as one request.
  if (pace.counted() === before) pace.count();
  return (await nextRange(self)) !== null;
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
