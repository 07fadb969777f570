import { day, hour, minute, second, type Clock, type Instant } from "../../../kernel/clock.ts";
import type { Journal } from "../../../platform/journal.ts";
import { restSubject, type ChainAlarms } from "../../../platform/chain/state/alarms.ts";
import type { ChainClient } from "../../../platform/chain/client.ts";
import { writeAlarms } from "../../../platform/chain/state/provider-health.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import { ProviderError } from "../../../platform/chain/providers/error.ts";
import type { ProviderPool } from "../../../platform/chain/providers/pool.ts";
import {
  fillGaps,
  gapsOf,
  isContradicted,
  noteRefusals,
  rangeOfGap,
  rowsOutside,
  withdrawRefusal,
  type GapRow,
} from "../../../platform/chain/state/reading-ranges.ts";
import { dropReadings, readingsOf } from "../../../platform/chain/state/readings.ts";
import { networkState, type NetworkState } from "../../../platform/chain/state/network-state.ts";
import type { Database, Tx } from "../../../platform/database/database.ts";
import { oldestHold, watchedSince } from "../../invoices/holds/addresses.ts";
import { judgeReading, rangeOf, type Judgement } from "./judgement.ts";
import { ReplyDropped, makeRangeSize, reportUnreadable, type RangeSize } from "./chain-reader.ts";
import { hasRefused, isRefusedBy, refusalsOf, reportGaps, type ProviderRefusal } from "./gaps.ts";
import {
  chooseReader,
  isAble,
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
import { watcherContext, type LeaseGuard } from "./recorder.ts";
import { withdrawWalletReading } from "./readings/wallet-reading.ts";
import type { RangeReading, RecordOptions, Scanner } from "./readings/rescanner.ts";
import { keyInBlock, type BlockRange, type TimedLog } from "../ledger/chain-diff.ts";

/**
 * Reads final blocks again, two minutes and one hour after the previous reading, from another provider if there is one:
 * an index that lags behind its node, or a provider that omits transfers, hides no payment for longer than that. The
 * progress is kept in the store.
 */
export type ProviderCrossCheck = ReturnType<typeof makeProviderCrossCheck>;

/** Poll interval for due ranges while none is due, in milliseconds. */
const checkEveryMs = 15 * second;
/** How often, in milliseconds, and how many open disagreements are re-checked. */
const againMs = 10 * minute;
const againMax = 20;
/**
 * How long after its first reading a range with unreadable logs waits for another provider, in milliseconds. Its holds are
 * not released until then.
 */
const readableMs = day;
/** The factor by which the searched depth of a gap grows with each request. */
const gapGrowth = 8;

interface Deps {
  readonly db: Database;
  readonly clock: Clock;
  readonly network: Network;
  readonly journal: Journal;
  readonly pool: Pick<ProviderPool, "providers" | "health" | "distrust">;
  readonly alarms: ChainAlarms;
  readonly scanner: Scanner;
}

type State = Deps & {
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
  /** The last block of the range that each provider failed to read last, by provider. */
  readonly failedAt: Map<string, number>;
};

export function makeProviderCrossCheck(deps: Deps) {
  const { clock, pool } = deps;
  const pace = makePace(clock);
  const self: State = {
    ...deps,
    pace,
    candidates: makeReadingCandidates(clock, pool, pace),
    sizes: new Map(),
    takenBack: new Set(),
    checkedAt: clock.now(),
    askedAgainAt: 0,
    lastAgain: "",
    oldest: null,
    failedAt: new Map(),
  };
  return { compare: (guard: LeaseGuard) => compare(self, guard) };
}

/**
 * Reads the next due range and periodically re-checks open disagreements between providers, within a limit of
 * requests. Returns true if more work is due.
 */
async function compare(self: State, guard: LeaseGuard): Promise<boolean> {
  const { clock, pace } = self;
  if (Math.abs(clock.now() - self.checkedAt) < checkEveryMs || !pace.isWithin()) return false;
  try {
    await reportOpenGaps(self);
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
async function oldestHeight(self: State, { tipHeight, tipSeenAt }: NetworkState): Promise<number> {
  const { db, clock, network } = self;
  const now = clock.now();
  if (self.oldest !== null && Math.abs(now - self.oldest.at) < hour) return self.oldest.height;
  const since = await oldestHold(db, network.id);
  const blocks = since === null ? 0 : Math.ceil((tipSeenAt - since) / network.blockTimeMs);
  self.oldest = {
    at: now,
    height: since === null ? tipHeight + 1 : Math.max(0, tipHeight - blocks),
  };
  return self.oldest.height;
}

async function reportOpenGaps(self: State): Promise<void> {
  const { db, network, pool } = self;
  const able = pool
    .health()
    .filter(isAble)
    .map(({ provider }) => provider);
  reportGaps(self, await gapsOf(db, network.id), able);
}

/** A due range with the providers that may read it. */
interface NextRange {
  /** Without rows for a gap whose blocks have all of their readings, because a reading of wallets found it. */
  readonly due: DueRange;
  readonly able: readonly Candidate[];
  /** The gap that contains the range; null if the range is outside of gaps. */
  readonly gap: GapRow | null;
  /** The first block of the rows that hold the range, and outside of gaps. */
  readonly lowest: number;
}

/** Returns the next due range, which is within one gap or outside of all. Leaves out gaps that nobody is to be asked for. */
async function nextRange(self: State): Promise<NextRange | null> {
  const { db, clock, network, candidates } = self;
  const state = await networkState(db, network.id);
  if (state === null) return null;
  const now = clock.now();
  const gaps = await gapsOf(db, network.id);
  const all = candidates.list();
  const mayRead = (gap: GapRow) => all.filter(({ provider }) => !isRefusedBy(gap, provider, now));
  const isLeftOut = (gap: GapRow) => gap.acceptedAt !== null || mayRead(gap).length === 0;
  const leftOut = gaps.filter(isLeftOut).map(rangeOfGap);
  const rows = rowsOutside(await readingsOf(db, network.id), leftOut);
  const oldest = rows.some(isOfEarlierVersion) ? await oldestHeight(self, state) : 0;
  const { cursorHeight } = state;
  const open = gaps.filter((gap) => !isLeftOut(gap));
  const due =
    nextDueRange(rows, { cursorHeight, now, oldestHold: oldest }, network.maxLogRange) ??
    endOfNewest(open, cursorHeight, network.maxLogRange);
  if (due === null) return null;
  const below = gaps.findLast(({ fromHeight }) => fromHeight <= due.to) ?? null;
  const gap = below !== null && below.toHeight >= due.to ? below : null;
  const floor = gap === null ? (below?.toHeight ?? -1) + 1 : gap.fromHeight;
  const from = Math.max(due.from, floor);
  return {
    due: { from, to: due.to, rows: due.rows.filter(({ toHeight }) => toHeight >= from) },
    able: gap === null ? all : mayRead(gap),
    gap,
    lowest: Math.max(floor, due.rows[0]?.fromHeight ?? from),
  };
}

/** Returns the upper end of the newest gap, which no row of readings makes due; null without a gap. */
function endOfNewest(
  gaps: readonly GapRow[],
  cursorHeight: number,
  blocksMax: number,
): DueRange | null {
  const newest = gaps.findLast(({ fromHeight }) => fromHeight <= cursorHeight);
  if (newest === undefined) return null;
  const to = Math.min(newest.toHeight, cursorHeight);
  return { from: Math.max(newest.fromHeight, to - blocksMax + 1), to, rows: [] };
}

/**
 * Withdraws the readings that a provider made since its last good probe, once it is found to omit transfers. If no
 * probe ever proved its logs, every block that can matter to an open hold is read again.
 */
async function takeBack(self: State, guard: LeaseGuard): Promise<void> {
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
  throw new ReplyDropped(`the final blocks of ${provider} differ from those that were read before`);
}

/** Reads one range from one provider and enters the listed transfers that are not on record. */
async function readRange(
  self: State,
  guard: LeaseGuard,
  { range, reader, able, due, isGap = false }: ReadRequest,
): Promise<Judgement> {
  const { scanner, candidates, network } = self;
  try {
    // The daily reading of wallets has passed over a gap, and has not waited for it.
    const addresses = isGap ? "all" : "watched";
    const size = sizeOf(self, reader.provider);
    const reading = await scanner.read(reader.client, size, range, addresses);
    const other = otherThan(reader, able);
    const isReadableLater = other !== null || waitsForOthers(self, due);
    if (reading.unreadable.length > 0 && isReadableLater) {
      throw new ReplyDropped(`${reader.provider} lists logs that cannot be read`);
    }
    reportUnreadable(self, reader.provider, reading.unreadable);
    if (due !== null) await assertOneChain(due, reading, other);
    const judgement = await judgeReading(self, reading, other);
    // Blocks that have all of their readings get none from the reading of a gap, which is about wallets then.
    const close =
      due === null || due.rows.length === 0
        ? (tx: Tx) => (isGap ? fillGaps(tx, network.id, range) : Promise.resolve())
        : undefined;
    await enter(self, guard, reading, judgement, close);
    return judgement;
  } catch (error) {
    if (isTriedAgain(error)) candidates.setAside(reader.provider);
    throw error;
  }
}

/** Returns true if a range with unreadable logs is to be read by another provider, which cannot be asked now. */
function waitsForOthers({ pool, clock }: State, due: DueRange | null): boolean {
  const openedAt = due?.rows.map((row) => row.openedAt) ?? [];
  const isYoung = openedAt.some((at) => Math.abs(clock.now() - at) < readableMs);
  return pool.providers.length > 1 && isYoung;
}

/** Enters transfers, with an alarm and an audit entry for each one that the watcher should have found. */
async function enter(
  self: State,
  guard: LeaseGuard,
  reading: RangeReading,
  { difference, provenLeftOut }: Judgement,
  close: RecordOptions["close"],
): Promise<void> {
  const { db, clock, network, alarms, scanner } = self;
  const { fresh } = difference;
  const since = await watchedSince(
    db,
    network.id,
    fresh.map(({ to }) => to),
  );
  const isLeftOut = (log: TimedLog) => {
    const { startsAt, markHeight } = since.get(log.to) ?? { startsAt: Infinity, markHeight: null };
    const isAfter = markHeight === null ? log.blockTime >= startsAt : log.blockHeight > markHeight;
    return isAfter || provenLeftOut.has(keyInBlock(log));
  };
  for (const log of fresh.filter(isLeftOut)) raiseLeftOut(self, log);
  const changes = alarms.changes();
  await scanner.record(
    watcherContext,
    { ...reading, difference },
    {
      guard,
      ...(close === undefined ? {} : { close }),
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
async function compareAgainLater(self: State, guard: LeaseGuard): Promise<void> {
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

async function readNext(self: State, guard: LeaseGuard): Promise<boolean> {
  const { pace, candidates, failedAt } = self;
  const next = await nextRange(self);
  if (next === null) return false;
  const { due, gap } = next;
  const reader = chooseReader(next.able, due);
  if (reader === null) return false;
  const { provider } = reader;
  const before = pace.counted();
  // A failed request excludes a provider for a while, so a range that it probably refuses is first asked for carefully.
  const hasFailed = failedAt.get(provider) === due.to;
  const isUncertain = hasFailed || gap !== null;
  if (!isUncertain || !(await isRefused(self, guard, next, reader))) {
    const size = sizeOf(self, provider);
    // The provider may read only the upper end of the range.
    if (hasFailed) size.refused(size.current());
    const from = Math.max(due.from, due.to - size.current() + 1);
    failedAt.set(provider, due.to);
    await readRange(self, guard, {
      range: { from, to: due.to },
      reader,
      // A provider that refuses the range cannot be asked about its transfers.
      able: candidates.list().filter((one) => gap === null || !hasRefused(gap, one.provider)),
      due,
      isGap: gap !== null,
    });
    failedAt.delete(provider);
  }
  // Without watched addresses no logs are requested, only block hashes: that counts as one request.
  if (pace.counted() === before) pace.count();
  return (await nextRange(self)) !== null;
}

/**
 * Asks a provider for the last block of a due range, and stores a refusal. A gap that it refused before stays refused,
 * except below a block that it reads again. Otherwise ever lower blocks are asked for, and the next reading
 * continues below them.
 */
async function isRefused(
  self: State,
  guard: LeaseGuard,
  { due, gap, lowest }: NextRange,
  reader: Candidate,
): Promise<boolean> {
  const { db, clock, network, pace } = self;
  const { client, provider } = reader;
  const ask = async (height: number) => {
    pace.count();
    const reply = await refusalsOf({ network, providers: [client] }, { from: height, to: height });
    return typeof reply === "string" ? null : reply;
  };
  const refusals = await ask(due.to);
  if (refusals === null || refusals.length === 0) return false;
  const known = gap !== null && hasRefused(gap, provider) ? rangeOfGap(gap) : null;
  const refused =
    known === null
      ? { from: await lowestRefused({ from: lowest, to: due.to }, ask), to: due.to }
      : { from: await stillRefused(known, ask), to: known.to };
  await db.write(watcherContext, async (tx) => {
    await guard(tx);
    await noteRefusals(tx, network.id, refused, refusals, clock.now());
    if (known === null || refused.from === known.from) return;
    await withdrawRefusal(tx, network.id, { from: known.from, to: refused.from - 1 }, provider);
  });
  return true;
}

/** Asks one provider for a block: no refusal if it reads it, null if it does not answer. */
type AskForBlock = (height: number) => Promise<readonly ProviderRefusal[] | null>;

/** Returns the lowest block of a range that is refused like its last one, as far as ever lower blocks are asked for. */
async function lowestRefused({ from, to }: BlockRange, ask: AskForBlock): Promise<number> {
  let lowest = to;
  for (let depth = 1; lowest > from; depth *= gapGrowth) {
    const lower = Math.max(from, to - depth);
    const reply = await ask(lower);
    if (reply?.length === 0) return firstRefused({ from: lower, to: lowest }, ask);
    if (reply === null) break;
    lowest = lower;
  }
  return lowest;
}

/** Returns the lowest block that is refused, between one that is read and one that is refused. */
async function firstRefused({ from, to }: BlockRange, ask: AskForBlock): Promise<number> {
  let [read, refused] = [from, to];
  while (refused - read > 1) {
    const middle = Math.floor((read + refused) / 2);
    const reply = await ask(middle);
    if (reply === null) break;
    if (reply.length === 0) read = middle;
    else refused = middle;
  }
  return refused;
}

/** Returns the first block of a refused range that is still refused, if its first or its middle block is read again. */
async function stillRefused({ from, to }: BlockRange, ask: AskForBlock): Promise<number> {
  for (const height of [Math.floor((from + to) / 2), from]) {
    if (height === to || (await ask(height))?.length !== 0) continue;
    return firstRefused({ from: height, to }, ask);
  }
  return from;
}

interface ReadRequest {
  readonly range: BlockRange;
  readonly reader: Candidate;
  readonly able: readonly Candidate[];
  /** Null if it does not count as a reading. */
  readonly due: DueRange | null;
  /** True if a provider refused the range before. */
  readonly isGap?: boolean;
}

/** Returns the block in which a provider has a transaction; null if it does not have the transaction. */
async function blockOf(client: ChainClient, transactionHash: string): Promise<BlockRange | null> {
  const receipt = await client.receipt(transactionHash);
  return receipt === null ? null : { from: receipt.blockHeight, to: receipt.blockHeight };
}

function isTriedAgain(error: unknown): boolean {
  return error instanceof ProviderError || error instanceof ReplyDropped;
}
