import type { App } from "../../../../app.ts";
import { hour, minute, type Clock, type Instant } from "../../../../kernel/clock.ts";
import { unwatched, type Progress } from "../../../../platform/progress.ts";
import {
  mayHide,
  type Address,
  type ChainClient,
  type Head,
  type TransferLog,
  type UnreadableLog,
} from "../../../../platform/chain/client.ts";
import type { Network } from "../../../../platform/chain/networks.ts";
import type { ProviderPool } from "../../../../platform/chain/providers/pool.ts";
import { addReading } from "../../../../platform/chain/state/readings.ts";
import {
  knownOf,
  networkState,
  replaceState,
  stateTable,
  type NetworkStateRow,
} from "../../../../platform/chain/state/network-state.ts";
import type { Database, Tx, WriteContext } from "../../../../platform/database/database.ts";
import type { BlockTimes } from "../block-times.ts";
import { unmatchedPerDay, withinInboxLimit } from "../../ledger/inbox-limit.ts";
import { applyChainDiff } from "../../ledger/apply-chain-diff.ts";
import {
  ReplyDropped,
  blockAt,
  makeRangeSize,
  readLogs,
  type RangeSize,
  type Recipients,
} from "../chain-reader.ts";
import { orNull } from "../gaps.ts";
import { marksOnChain, recipientsOf, withTimes } from "../read-changes.ts";
import { ScanInterrupted } from "../../errors.ts";
import type { LeaseGuard } from "../recorder.ts";
import { revocableTransfers, transfersOfTransactions } from "../../ledger/store.ts";
import type { TransferRow } from "../../table.ts";
import {
  batchesOf,
  compareAgain,
  groupBy,
  isSame,
  type BlockRange,
  type TimedLog,
  type WindowDifference,
} from "../../ledger/chain-diff.ts";

export interface ScanReport extends BlockRange {
  /** Transfers to watched addresses in the range. */
  readonly found: number;
  /** The found transfers that were not on record. */
  readonly fresh: readonly TimedLog[];
  /** The logs that may be transfers to watched addresses and cannot be read. */
  readonly unreadable: readonly UnreadableLog[];
}

/** The transfers of a range as one provider listed them, compared with the stored ones. */
export interface RangeReading extends BlockRange {
  readonly provider: string;
  /** Transfers to watched addresses in the range. */
  readonly found: number;
  /** The logs that may be transfers to these addresses and cannot be read. */
  readonly unreadable: readonly UnreadableLog[];
  readonly difference: WindowDifference<TimedLog>;
  /** The hashes of holds' marks, at or above the transfers, that the chain has. */
  readonly marks: readonly string[];
  /** The block before the range; null if the range begins with the first block of the chain. */
  readonly parent: Head | null;
  readonly end: Head;
  /** The network's state when the range was read. */
  readonly state: NetworkStateRow;
  /** The unmatched transfers beyond the limit of an address, which are not entered. */
  readonly leftOut: readonly TransferLog[];
}

/**
 * The addresses that are read: the watched ones, or also those of active wallets; or given ones, each with the time from
 * which its transfers count.
 */
type ReadAddresses = "watched" | "all" | ReadonlyMap<Address, Instant>;

export interface RecordOptions {
  readonly guard: LeaseGuard;
  /** Called in the last transaction instead of counting the range as read once more. */
  readonly close?: (tx: Tx) => Promise<void>;
  /** Called in each transaction with the transfers that it enters. */
  readonly within?: (tx: Tx, entered: readonly TimedLog[]) => Promise<void>;
}

/**
 * Reads blocks that the watcher has read or passed over. Stored transfers stay unchanged, except those whose blocks were
 * replaced without the watcher reading the new ones.
 */
export type Scanner = ReturnType<typeof makeScanner>;

interface ScannerDeps {
  readonly app: App;
  readonly db: Database;
  readonly clock: Clock;
  readonly network: Network;
  readonly pool: Pick<ProviderPool, "client" | "providers">;
  readonly times: BlockTimes;
}

/** The number of blocks that are read before their transfers are written. */
const sliceBlocks = 20_000;
const freshMax = 1_000;
const attemptsMax = 5;
/**
 * How much earlier than its registration a wallet may at least get a transfer, because the clocks of chains and servers
 * differ; more on a chain whose blocks have old times, usually or now, of which the lag of now counts up to an hour.
 */
const clockSlackMs = minute;
const lagMostMs = hour;

type Parts = ScannerDeps & {
  readonly scanSize: RangeSize;
  /** The contracts of the network's tokens. */
  readonly contracts: readonly string[];
};

export function makeScanner(deps: ScannerDeps) {
  const { network } = deps;
  const scanSize = makeRangeSize(network.maxLogRange);
  const contracts = network.tokens.map(({ contract }) => contract);
  const self: Parts = { ...deps, scanSize, contracts };
  return {
    network,
    scan: (context: WriteContext, range: BlockRange, progress?: Progress) =>
      scan(self, context, range, progress),
    read: (
      client: ChainClient,
      rangeSize: RangeSize,
      range: BlockRange,
      addresses?: ReadAddresses,
    ) => read(self, client, rangeSize, range, addresses),
    record: (context: WriteContext, reading: RangeReading, options: RecordOptions) =>
      record(self, context, reading, options),
  };
}

/** Reads a range and enters new transfers. Throws ScanInterrupted if the network's state kept changing meanwhile. */
async function scan(
  deps: Parts,
  context: WriteContext,
  { from, to }: BlockRange,
  progress: Progress = unwatched,
): Promise<ScanReport> {
  let found = 0;
  const fresh: TimedLog[] = [];
  const unreadable: UnreadableLog[] = [];
  for (let next = from; next <= to; next += sliceBlocks) {
    const slice = { from: next, to: Math.min(to, next + sliceBlocks - 1) };
    progress("Reading blocks", next - from, to - from + 1);
    const report = await scanThrough(deps, context, slice);
    found += report.found;
    fresh.push(...report.fresh);
    unreadable.push(...report.unreadable);
  }
  return { from, to, found, fresh, unreadable };
}

/**
 * Reads a range from one provider and writes nothing. An operator who names a single block gets all of its transfers,
 * without the limits of the inbox. Throws ReplyDropped if the network was never reached or the provider's answers are
 * inconsistent.
 */
async function read(
  deps: Parts,
  client: ChainClient,
  rangeSize: RangeSize,
  { from, to }: BlockRange,
  addresses: ReadAddresses = "watched",
): Promise<RangeReading> {
  const { db, network, times, contracts } = deps;
  const state = await networkState(db, network.id);
  if (state === null) throw new ReplyDropped("the network was never reached");
  const { latest, known } = await client.heads(knownOf(state));
  if (known !== null && known.hash !== state.cursorHash) {
    throw new ReplyDropped(`${client.provider} has another final block than was scanned`);
  }
  const revocable = await revocableTransfers(db, network.id);
  const end = await blockAt(client, to);
  // A provider may have pruned the block below the first one that it still has.
  const [parent = null] = from === 0 ? [] : await client.blocks([from - 1]);
  const recipients =
    typeof addresses === "string"
      ? await recipientsOf({ db, network }, revocable, {
          hasWallets: addresses === "all",
        })
      : givenRecipients(addresses);
  const isAsked = recipients.addresses?.length !== 0;
  const request = { client, rangeSize, contracts, recipients };
  const { logs, unreadable } = isAsked
    ? await readLogs(request, from, end, latest)
    : { logs: [], unreadable: [] };
  const hashes = new Set(logs.map(({ transactionHash }) => transactionHash));
  const recorded = await transfersOfTransactions(db, network.id, [...hashes]);
  const stored = await withoutReplaced(deps, client, recorded, logs);
  // Stored transfers keep their times, so that only unknown times are requested.
  const { fresh: found, moved, contradicting } = compareAgain(stored, logs, state.cursorHeight);
  // The transfers of an exchange would need the times of all its blocks.
  const fresh = typeof addresses === "string" ? found : firstOfEach(found);
  const taken = new Set(fresh);
  const cut = found.filter((log) => !taken.has(log));
  const unknown = [...fresh, ...moved.map(({ log }) => log)];
  const timed = await withTimes({ client, times }, stored, unknown, {
    after: parent?.time ?? 0,
    before: end.time,
  });
  const since = typeof addresses === "string" ? null : addresses;
  const slackMs = Math.max(
    clockSlackMs,
    state.usualLagMs,
    Math.min(lagMostMs, state.tipSeenAt - state.tipTime),
  );
  const own = timed
    .slice(0, fresh.length)
    .filter(({ to, blockTime }) => blockTime >= (since?.get(to) ?? 0) - slackMs);
  const isWhole = addresses === "all" && from === to;
  const marks = await marksOnChain({ db, client, network, state }, timed);
  const { kept: watched, leftOut } = isWhole
    ? { kept: own, leftOut: [] }
    : await withinInboxLimit(db, network, own, {
        tipHeight: state.tipHeight,
        hashes: marks,
      });
  const leaving = moved.map(({ transfer }) => transfer).filter(({ status }) => status === "seen");
  const hasMoved = new Set(moved.map(({ transfer }) => transfer.id));
  const foundIn = new Map(logs.map((log) => [log.transactionHash, log.blockHash]));
  const passedOver = revocable.filter((row) => {
    const { id, transactionHash, blockHeight: height, blockHash } = row;
    if (height > state.cursorHeight || hasMoved.has(id) || mayHide(unreadable, row)) return false;
    const found = foundIn.get(transactionHash);
    // Transfers that a found transaction has no more are gone with its former block, which may be outside of the range.
    return found === undefined ? from <= height && height <= to : found !== blockHash;
  });
  // A transaction of another address than those that are asked for may be in another block.
  const missing = typeof addresses === "string" ? passedOver : [];
  const replaced = await offChain(deps, client, [...leaving, ...missing]);
  if (leaving.some((row) => !replaced.includes(row))) {
    throw new ReplyDropped(
      `${client.provider} has a transaction in another block, and does not say that its former block was replaced`,
    );
  }
  const difference = {
    contradicting,
    orphaned: replaced.filter(({ id }) => !hasMoved.has(id)),
    fresh: watched,
    moved: timed.slice(fresh.length).flatMap((log, index) => {
      const transfer = moved[index]?.transfer;
      return transfer === undefined ? [] : [{ transfer, log }];
    }),
  };
  const { provider } = client;
  return {
    from,
    to,
    provider,
    found: logs.length,
    unreadable,
    difference,
    marks,
    parent,
    end,
    state,
    leftOut: [...cut, ...leftOut],
  };
}

/**
 * Returns stored transfers, as not final if they are listed in another block and the provider's chain does not have theirs:
 * their blocks were replaced while nobody could read where they went.
 */
async function withoutReplaced(
  deps: Parts,
  client: ChainClient,
  rows: readonly TransferRow[],
  logs: readonly TransferLog[],
): Promise<readonly TransferRow[]> {
  const blocks = new Map(
    logs.map(({ transactionHash, blockHash }) => [transactionHash, blockHash]),
  );
  const elsewhere = rows.filter(
    (row) => row.isFinal && blocks.get(row.transactionHash) !== row.blockHash,
  );
  const replaced = new Set(await offChain(deps, client, elsewhere));
  return rows.map((row) => (replaced.has(row) ? { ...row, isFinal: false } : row));
}

/**
 * Returns the stored transfers that are in blocks which the chain of a provider has replaced. Throws ReplyDropped if another
 * provider has one of these blocks, or none of the others has another block there: the range stays unread then.
 */
async function offChain(
  { pool }: Parts,
  client: ChainClient,
  rows: readonly TransferRow[],
): Promise<readonly TransferRow[]> {
  if (rows.length === 0) return [];
  const heights = [...new Set(rows.map(({ blockHeight }) => blockHeight))];
  const hashesOf = (blocks: readonly (Head | null)[] | null) =>
    new Map(heights.map((height, index) => [height, blocks?.[index]?.hash]));
  const own = hashesOf(await client.blocks(heights));
  const gone = rows.filter((row) => (own.get(row.blockHeight) ?? row.blockHash) !== row.blockHash);
  const others = pool.providers.filter(({ provider }) => provider !== client.provider);
  if (gone.length === 0 || others.length === 0) return gone;
  const replies = await Promise.all(
    others.map(async (other) => hashesOf(await orNull(other.blocks(heights)))),
  );
  for (const { blockHeight, blockHash } of gone) {
    const hashes = replies.flatMap((reply) => reply.get(blockHeight) ?? []);
    if (hashes.length > 0 && !hashes.includes(blockHash)) continue;
    throw new ReplyDropped(
      `${client.provider} says that block ${String(blockHeight)} was replaced, and no other provider confirms it, or one ` +
        "contradicts it",
    );
  }
  return gone;
}

/** Returns the first logs of each address, as many as can become unmatched transfers of one day. */
function firstOfEach(logs: readonly TransferLog[]): readonly TransferLog[] {
  return [...groupBy(logs, ({ to }) => to).values()].flatMap((own) =>
    own.slice(0, unmatchedPerDay.held),
  );
}

function givenRecipients(addresses: ReadonlyMap<Address, Instant>): Recipients {
  const given = new Set(addresses.keys());
  return { addresses: [...given], among: () => Promise.resolve(given) };
}

/** Enters the transfers of a reading. Throws ReplyDropped if the network's state has changed since. */
async function record(
  deps: Parts,
  context: WriteContext,
  reading: RangeReading,
  { guard, close, within }: RecordOptions,
): Promise<void> {
  const { db, clock, network } = deps;
  const { difference, marks, end: to, provider } = reading;
  const parent = { height: reading.from - 1, hash: reading.parent?.hash ?? null };
  let { state } = reading;
  // A reading of final blocks without new transfers cannot conflict with the watcher.
  const isEntered = !isSame(difference) || reading.to > state.cursorHeight;
  const batches = batchesOf(difference, freshMax);
  for (const [index, part] of batches.entries()) {
    const before = state;
    const after = isEntered ? { ...before, version: before.version + 1 } : before;
    const at = clock.now();
    await db.write(context, async (tx) => {
      await guard(tx);
      if (isEntered) {
        if (!(await replaceState(tx, before, after))) {
          throw new ReplyDropped("another process has scanned the network meanwhile");
        }
        await applyChainDiff(tx, deps.app, {
          network,
          state: after,
          difference: part,
          verified: [],
          marks,
          at,
        });
      } else await assertStillFinal(deps, tx, reading);
      await within?.(tx, part.fresh);
      if (index < batches.length - 1) return;
      if (close !== undefined) await close(tx);
      else await addReading(tx, network.id, { parent, to }, { provider, at });
    });
    state = after;
  }
}

/** Throws ReplyDropped if the cursor was set back meanwhile: the reading may be of blocks that were replaced. */
async function assertStillFinal(
  { network }: Parts,
  tx: Tx,
  { to, state: before }: RangeReading,
): Promise<void> {
  const state = await tx.lockOne(stateTable, "WHERE network = $1", [network.id]);
  const isSetBack =
    state === null ||
    state.cursorHeight < Math.max(to, before.cursorHeight) ||
    (state.cursorHeight === before.cursorHeight && state.cursorHash !== before.cursorHash);
  if (isSetBack) throw new ReplyDropped("the chain replaced final blocks while they were read");
}

/** Reads a slice, and reads it again if the watcher, which continues meanwhile, changed the state in between. */
async function scanThrough(
  deps: Parts,
  context: WriteContext,
  range: BlockRange,
): Promise<ScanReport> {
  const { pool, scanSize } = deps;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const reading = await read(deps, pool.client, scanSize, range, "all");
      await record(deps, context, reading, { guard: () => Promise.resolve() });
      const { found, unreadable, difference } = reading;
      return { ...range, found, fresh: difference.fresh, unreadable };
    } catch (error) {
      if (!(error instanceof ReplyDropped)) throw error;
      if (attempt >= attemptsMax) {
        throw new ScanInterrupted(`${error.message}. Scan the range again.`);
      }
    }
  }
}
