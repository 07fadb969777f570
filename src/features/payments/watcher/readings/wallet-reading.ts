import type * as z from "zod";
import { day, hour, second, type Clock, type Instant } from "../../../../kernel/clock.ts";
import type { Address, ChainClient } from "../../../../platform/chain/client.ts";
import type { Network } from "../../../../platform/chain/networks.ts";
import { ProviderError } from "../../../../platform/chain/providers/error.ts";
import type { ProviderPool } from "../../../../platform/chain/providers/pool.ts";
import type { ChainAlarms } from "../../../../platform/chain/state/alarms.ts";
import { networkState } from "../../../../platform/chain/state/network-state.ts";
import {
  gapsOf,
  noteRefusals,
  rangeOfGap,
  without,
} from "../../../../platform/chain/state/reading-ranges.ts";
import { systemContext, type Database, type Tx } from "../../../../platform/database/database.ts";
import {
  integer,
  json,
  table,
  text,
  time,
  type RowOf,
} from "../../../../platform/database/schema/table.ts";
import type { Journal } from "../../../../platform/journal.ts";
import { addressesToRead, type ReadAddress } from "../../../wallets/store.ts";
import { groupBy, type BlockRange } from "../../ledger/chain-diff.ts";
import { unmatchedPerDay } from "../../ledger/inbox-limit.ts";
import type { WalletInboxRecord } from "../../inbox/records.ts";
import { ReplyDropped, makeRangeSize, reportUnreadable, type RangeSize } from "../chain-reader.ts";
import { isBehind } from "../cursor.ts";
import { refusalsOf, type ProviderRefusal } from "../gaps.ts";
import type { LeaseGuard } from "../recorder.ts";
import { makePace, type Pace } from "./reading-plan.ts";
import type { RangeReading, Scanner } from "./rescanner.ts";

/**
 * Reads the addresses of all active wallets once a day, also of those that receive an invoice now: its hold may have begun
 * after the last reading. A round reads the final blocks since the last round, for 1,000 addresses at a time, in few requests
 * per scan. The progress is in the store, so that any server continues a round.
 */
export type WalletReader = ReturnType<typeof makeWalletReader>;

/**
 * How long after a round began the next one begins, in milliseconds. The rest of the day is for its requests, so that a
 * transfer is found within a day after its block became final.
 */
const roundEveryMs = 20 * hour;
/** The time after which a round is late, in milliseconds, which operators must know. */
const lateAfterMs = 2 * day;
/** The final blocks that a round reads again, by their usual time in milliseconds: an index may lag behind its blocks. */
const readAgainMs = hour;
/** The number of addresses that are read together, which a provider accepts in one request. */
const addressesPerChunk = 1_000;
/** The average limit of requests for wallets, per minute: 7,200 in a round. */
const walletRequestsPerMinute = 6;
/** The factor by which the searched length of a gap grows with each request. */
const gapGrowth = 8;
/** The wait after a failed request, in milliseconds. */
const retryMs = 15 * second;

const walletContext = systemContext("wallet reading");

interface Deps {
  readonly db: Database;
  readonly clock: Clock;
  readonly network: Network;
  readonly journal: Journal;
  /** The client of the pool. */
  readonly client: ChainClient;
  readonly pool: Pick<ProviderPool, "isAnotherReady" | "passOver">;
  /** The individual providers. */
  readonly providers: readonly ChainClient[];
  readonly alarms: ChainAlarms;
  readonly scanner: Scanner;
}

type State = Deps & {
  readonly pace: Pace;
  readonly rangeSize: RangeSize;
  failedAt: Instant;
  /** The first block of the range that failed last; null after a success. */
  failed: number | null;
};

export function makeWalletReader(deps: Deps) {
  const self: State = {
    ...deps,
    pace: makePace(deps.clock, walletRequestsPerMinute),
    rangeSize: makeRangeSize(deps.network.maxLogRange),
    failedAt: 0,
    failed: null,
  };
  return { readSome: (guard: LeaseGuard) => readSome(self, guard) };
}

/** Reads one range for one chunk of addresses if the pace allows it. Returns true if more is to be read at once. */
async function readSome(self: State, guard: LeaseGuard): Promise<boolean> {
  const { db, clock, network, pace } = self;
  if (!pace.isWithin() || Math.abs(clock.now() - self.failedAt) < retryMs) return false;
  const progress = await db.findOne(walletReadings, "WHERE network = $1", [network.id]);
  if (progress === null) return false;
  const isUnderWay = progress.toHeight > progress.throughHeight;
  // A round that is due after a downtime, or on a chain without new blocks, is not late.
  warnIfLate(self, progress, isUnderWay);
  try {
    return isUnderWay
      ? await readOn(self, guard, progress)
      : await beginRound(self, guard, progress);
  } catch (error) {
    if (!(error instanceof ProviderError || error instanceof ReplyDropped)) throw error;
    self.failedAt = clock.now();
    warnIfLate(self, progress, true);
    return false;
  }
}

/** Begins a round over the final blocks since the last one, if it is time and there are some. */
async function beginRound(self: State, guard: LeaseGuard, progress: Progress): Promise<boolean> {
  const { db, clock, network, client, pace } = self;
  // The absolute difference also ends the wait if the clock was set back.
  if (Math.abs(clock.now() - progress.beganAt) < roundEveryMs) return false;
  const state = await networkState(db, network.id);
  // After a downtime, a round over the blocks before it would leave the others to the next day.
  if (state === null || isBehind(state) || state.cursorHeight <= progress.throughHeight) {
    return false;
  }
  pace.count();
  const [through = null] = await client.blocks([progress.throughHeight]);
  await advance(self, guard, progress, {
    // The last round began while later blocks were not final yet, or not scanned.
    throughAt: Math.min(progress.beganAt, through?.time ?? progress.beganAt),
    beforeHeight: progress.throughHeight,
    beganAt: clock.now(),
    toHeight: state.cursorHeight,
    nextHeight: firstOf(network, progress),
  });
  return true;
}

/** Returns the first block of a round. */
function firstOf({ blockTimeMs }: Network, { throughHeight }: Progress): number {
  return Math.max(0, throughHeight + 1 - Math.ceil(readAgainMs / blockTimeMs));
}

async function readOn(self: State, guard: LeaseGuard, progress: Progress): Promise<boolean> {
  const { db, network, pace, rangeSize, client, pool, providers, scanner } = self;
  const { afterAddress: after, untilAddress: until, toHeight, nextHeight } = progress;
  const limit = until === null ? addressesPerChunk : Number.MAX_SAFE_INTEGER;
  const wallets = await addressesToRead(db, network.id, progress.throughAt, {
    after,
    until,
    limit,
  });
  const last = until ?? wallets.at(-1)?.address;
  if (last === undefined) {
    await advance(self, guard, progress, {
      throughHeight: toHeight,
      ...betweenRounds(toHeight),
    });
    return false;
  }
  const [range, more] = without(
    { from: nextHeight, to: toHeight },
    (await gapsOf(db, network.id)).map(rangeOfGap),
  );
  pace.count();
  // The rest of the round is within gaps, which are read for wallets too once a provider has them.
  if (range === undefined) {
    await advance(self, guard, progress, endOfChunk(network, progress, last));
    return pace.isWithin();
  }
  const { from } = range;
  if (self.failed === from && (await isRefused(self, guard, { from, to: range.to }))) return true;
  // The provider may read only the lower end of the range.
  if (self.failed === from) rangeSize.refused(rangeSize.current());
  const to = Math.min(range.to, from + rangeSize.current() - 1);
  const since = new Map(wallets.map((wallet) => [wallet.address, wallet.since]));
  self.failed = from;
  const reading = await scanner.read(client, rangeSize, { from, to }, since);
  self.failed = null;
  if (reading.unreadable.length > 0 && providers.length > 1 && pool.isAnotherReady()) {
    const reason = "it lists logs that cannot be read";
    pool.passOver(reason);
    throw new ReplyDropped(reason);
  }
  reportUnreadable(self, reading.provider, reading.unreadable);
  const isWhole = more === undefined && to === range.to;
  await record(self, guard, progress, { range: { from, to }, isWhole, reading, wallets, last });
  return pace.isWithin();
}

/**
 * Asks the providers for the first block of a range after its reading failed. Stores a gap if every configured one
 * refuses it: a provider that does not answer may have it.
 */
async function isRefused(
  self: State,
  guard: LeaseGuard,
  { from, to }: BlockRange,
): Promise<boolean> {
  const { db, clock, network, pace, providers } = self;
  let end = from;
  let refusals: readonly ProviderRefusal[] = [];
  for (let depth = 0; ; depth = depth * gapGrowth + 1) {
    const height = Math.min(to, from + depth);
    pace.count();
    const reply = await refusalsOf(self, { from: height, to: height });
    if (typeof reply === "string" || reply.length < providers.length) break;
    refusals = reply;
    end = height;
    if (height === to) break;
  }
  if (refusals.length === 0) return false;
  await db.write(walletContext, async (tx) => {
    await guard(tx);
    await noteRefusals(tx, network.id, { from, to: end }, refusals, clock.now());
  });
  return true;
}

interface ChunkReading {
  readonly range: BlockRange;
  /** True if the range is the last one of its chunk that providers read. */
  readonly isWhole: boolean;
  readonly reading: RangeReading;
  readonly wallets: readonly ReadAddress[];
  /** The last address of the chunk. */
  readonly last: Address;
}

/** Enters the transfers of a range, and with the last range of a chunk tells merchants what was left out. */
async function record(
  self: State,
  guard: LeaseGuard,
  progress: Progress,
  { range, isWhole, reading, wallets, last }: ChunkReading,
): Promise<void> {
  const { network, scanner } = self;
  const leftOut = countLeftOut(progress, reading);
  const full = isWhole ? wallets.filter(({ address }) => (leftOut[address] ?? 0) > 0) : [];
  for (const wallet of full) raiseFull(self, wallet, leftOut[wallet.address] ?? 0);
  await scanner.record(walletContext, reading, {
    guard,
    async close(tx) {
      await write(
        tx,
        progress,
        isWhole
          ? endOfChunk(network, progress, last)
          : { nextHeight: range.to + 1, untilAddress: last, leftOut },
      );
      for (const wallet of full)
        announceFull(self, tx, wallet, progress, leftOut[wallet.address] ?? 0);
    },
  });
}

/** Returns the progress after the last range of a chunk of addresses. */
function endOfChunk(network: Network, progress: Progress, last: Address): Partial<Progress> {
  return {
    nextHeight: firstOf(network, progress),
    afterAddress: last,
    untilAddress: null,
    leftOut: {},
  };
}

/** Adds the transfers of a reading that were not recorded. Blocks that the last round read too are counted there. */
function countLeftOut(
  { leftOut, throughHeight }: Progress,
  reading: RangeReading,
): Readonly<Record<Address, number>> {
  const counted = { ...leftOut };
  const news = reading.leftOut.filter(({ blockHeight }) => blockHeight > throughHeight);
  for (const [address, logs] of groupBy(news, ({ to }) => to)) {
    counted[address] = (counted[address] ?? 0) + logs.length;
  }
  return counted;
}

function raiseFull(
  { network, alarms }: State,
  { walletId, organizationId }: ReadAddress,
  count: number,
): void {
  alarms.raise(
    "transfers_not_recorded",
    walletId,
    `${String(count)} transfers to the wallet ${walletId} of ${organizationId} in about a day matched no invoice and were ` +
      "not recorded. Check whether its address is the organization's own, and release it with till wallet release if not",
    { network: network.id, walletId, organizationId, count },
  );
}

function announceFull(
  { network, journal, clock }: State,
  tx: Tx,
  { walletId, organizationId, address }: ReadAddress,
  { throughHeight, toHeight, beganAt }: Progress,
  count: number,
): void {
  const data: z.input<typeof WalletInboxRecord> = {
    walletId,
    network: network.id,
    address: network.kind.formatAddress(address),
    transfersNotRecorded: count,
    recordedPerDay: unmatchedPerDay.idle,
    fromBlockNumber: throughHeight + 1,
    toBlockNumber: toHeight,
  };
  journal.record(tx, clock.now(), {
    organizationId,
    subjectType: "wallet_inbox",
    subjectId: walletId,
    events: {
      types: ["wallet_inbox.full"],
      version: beganAt,
      data,
    },
  });
}

/** Raises an alarm while a round takes longer than `lateAfterMs`, or cannot begin since then, and ends it. */
function warnIfLate(
  { clock, network, alarms }: State,
  { beganAt }: Progress,
  isReading: boolean,
): void {
  const isLate = clock.now() - beganAt > lateAfterMs;
  if (isLate && !isReading) return;
  if (!isLate) {
    alarms.clear("wallets_read_late", network.id);
    return;
  }
  alarms.raise(
    "wallets_read_late",
    network.id,
    "the wallets without open invoices were not read completely for more than two days, so money that they got may be " +
      "missing in inboxes. Check the providers, and whether they allow larger ranges of blocks",
  );
}

async function advance(
  { db }: State,
  guard: LeaseGuard,
  progress: Progress,
  change: Partial<Progress>,
): Promise<void> {
  await db.write(walletContext, async (tx) => {
    await guard(tx);
    await write(tx, progress, change);
  });
}

/** Writes progress. Throws ReplyDropped if the blocks of the round were replaced, or another process continued it. */
async function write(tx: Tx, before: Progress, change: Partial<Progress>): Promise<void> {
  const { network, throughHeight, toHeight, nextHeight, afterAddress } = before;
  const changed = await tx.update(
    walletReadings,
    change,
    `WHERE network = $1 AND through_height = $2 AND to_height = $3 AND next_height = $4 AND after_address = $5`,
    [network, throughHeight, toHeight, nextHeight, afterAddress],
  );
  if (changed === 1) return;
  throw new ReplyDropped("another process has read the wallets meanwhile");
}

/** The progress of the rounds of a network. */
export const walletReadings = table(
  "wallet_readings",
  {
    network: text(),
    /** The height up to which completed rounds have read the blocks of every wallet. */
    throughHeight: integer(),
    /** The same before the present or last round, which is read again if its provider is found to omit transfers. */
    beforeHeight: integer(),
    /**
     * The time of the last block of the round before the present or last one, or of the beginning of that round if it is
     * earlier: wallets that were archived since are read too.
     */
    throughAt: time(),
    /** The time at which the present or last round began. */
    beganAt: time(),
    /** The last block of the present round; `throughHeight` if no round is under way. */
    toHeight: integer(),
    /** The next block of the chunk, and the address up to which the chunks before it reached. */
    nextHeight: integer(),
    afterAddress: text(),
    /** The last address of the chunk; null until it is chosen. */
    untilAddress: text().nullable(),
    /** The number of transfers per address of the chunk that were not recorded. */
    leftOut: json<Readonly<Record<Address, number>>>(),
  },
  { primaryKey: ["network"] },
);

type Progress = RowOf<typeof walletReadings>;

/** Stores where the first round of a network begins: above the final block from which it is watched. */
export async function beginWalletReading(
  tx: Tx,
  network: string,
  height: number,
  at: Instant,
): Promise<void> {
  await tx.insertIfAbsent(walletReadings, {
    network,
    throughHeight: height,
    beforeHeight: height,
    throughAt: at,
    beganAt: at,
    ...betweenRounds(height),
  });
}

/** Sets the rounds back to a final block after the chain replaced the blocks above it. A round under way starts again. */
export async function lowerWalletReading(tx: Tx, network: string, height: number): Promise<void> {
  const row = await tx.lockOne(walletReadings, "WHERE network = $1", [network]);
  if (row === null || row.toHeight <= height) return;
  const beganAt = row.toHeight > row.throughHeight ? row.throughAt : row.beganAt;
  await setBack(tx, network, Math.min(row.throughHeight, height), beganAt);
}

/**
 * Withdraws the present or last round, so that it is made again at once: a provider omits transfers, and may have been
 * asked. The round was at most a day long, and a provider is probed every few minutes.
 */
export async function withdrawWalletReading(tx: Tx, network: string): Promise<void> {
  const row = await tx.lockOne(walletReadings, "WHERE network = $1", [network]);
  if (row !== null) await setBack(tx, network, row.beforeHeight, row.throughAt);
}

async function setBack(tx: Tx, network: string, height: number, beganAt: Instant): Promise<void> {
  await tx.update(
    walletReadings,
    { throughHeight: height, beforeHeight: height, beganAt, ...betweenRounds(height) },
    "WHERE network = $1",
    [network],
  );
}

/** Returns the progress at a height between two rounds. */
function betweenRounds(height: number) {
  return {
    toHeight: height,
    nextHeight: height + 1,
    afterAddress: "",
    untilAddress: null,
    leftOut: {},
  };
}
