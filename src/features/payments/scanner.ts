import type { Clock } from "../../kernel/clock.ts";
import type { ChainClient, Head } from "../../platform/chain/client.ts";
import type { Network } from "../../platform/chain/networks.ts";
import type { ProviderPool } from "../../platform/chain/provider-pool.ts";
import { addReading } from "../../platform/chain/readings.ts";
import {
  knownOf,
  networkState,
  replaceState,
  stateTable,
  type NetworkStateRow,
} from "../../platform/chain/state.ts";
import type { Database, Tx, WriteContext } from "../../platform/database/index.ts";
import type { BlockTimes } from "./block-times.ts";
import type { LedgerDeps } from "./entry.ts";
import { enter } from "./ledger.ts";
import { AnswerDropped, blockAt, makeRangeSize, readLogs, type RangeSize } from "./look.ts";
import { recipientsOf, withTimes } from "./news.ts";
import { ScanInterrupted } from "./errors.ts";
import type { Guard } from "./recorder.ts";
import { revocableTransfers, transfersOfTransactions } from "./store.ts";
import {
  batchesOf,
  compareAgain,
  isSame,
  type BlockRange,
  type TimedLog,
  type WindowDifference,
} from "./window.ts";

export interface ScanReport extends BlockRange {
  /** Transfers to watched addresses in the range. */
  readonly found: number;
  /** Those of them that were not on record. */
  readonly fresh: readonly TimedLog[];
}

/** A range as one provider listed it, compared with the record. */
export interface RangeReading extends BlockRange {
  readonly provider: string;
  /** Transfers to watched addresses in the range. */
  readonly found: number;
  readonly difference: WindowDifference<TimedLog>;
  /** The block before the range; null where it begins with the first of the chain. */
  readonly parent: Head | null;
  readonly end: Head;
  /** The network's state when the range was read. */
  readonly state: NetworkStateRow;
}

export interface RecordOptions {
  readonly guard: Guard;
  /** False: the transfers are entered, and the range does not count as read once more. */
  readonly isReading?: boolean;
  /** Called in each transaction, with the transfers that it enters. */
  readonly within?: (tx: Tx, entered: readonly TimedLog[]) => Promise<void>;
}

/** Reads blocks again that the watcher has read before; what is on record stays as it is. */
export interface Scanner {
  readonly network: Network;
  /** Reads the range and enters what is not on record. Throws ScanInterrupted where others changed the network meanwhile. */
  scan(context: WriteContext, range: BlockRange, guard?: Guard): Promise<ScanReport>;
  /**
   * Reads a range from one provider and writes nothing. Throws AnswerDropped where the network was never reached or the
   * answers do not fit together.
   */
  read(client: ChainClient, rangeSize: RangeSize, range: BlockRange): Promise<RangeReading>;
  /** Enters the transfers of a reading. Throws AnswerDropped where others changed the network since it was read. */
  record(context: WriteContext, reading: RangeReading, options: RecordOptions): Promise<void>;
}

export interface ScannerDeps extends LedgerDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly network: Network;
  readonly pool: Pick<ProviderPool, "client">;
  readonly times: BlockTimes;
}

/** Blocks that are read before what was found in them is written. */
const sliceBlocks = 20_000;
const freshMax = 1_000;
const attemptsMax = 5;

export function makeScanner(deps: ScannerDeps): Scanner {
  const { db, clock, network, pool, times } = deps;
  const scanSize = makeRangeSize(network.maxLogRange);
  const contracts = network.tokens.map(({ contract }) => contract);

  async function read(
    client: ChainClient,
    rangeSize: RangeSize,
    { from, to }: BlockRange,
  ): Promise<RangeReading> {
    const state = await networkState(db, network.id);
    if (state === null) throw new AnswerDropped("the network was never reached");
    const { latest, known } = await client.heads(knownOf(state));
    if (known !== null && known.hash !== state.cursorHash) {
      throw new AnswerDropped(`${client.provider} has another final block than was scanned`);
    }
    const revocable = await revocableTransfers(db, network.id);
    const end = await blockAt(client, to);
    const parent = from === 0 ? null : await blockAt(client, from - 1);
    const recipients = await recipientsOf({ db, network, invoices: deps.invoices }, revocable);
    const isAsked = recipients.addresses?.length !== 0;
    const request = { client, rangeSize, contracts, recipients };
    const logs = isAsked ? await readLogs(request, from, end, latest) : [];
    const hashes = new Set(logs.map(({ transactionHash }) => transactionHash));
    const stored = await transfersOfTransactions(db, network.id, [...hashes]);
    // Transfers on record keep their times, so that nobody is asked for those again.
    const { fresh, moved, ...rest } = compareAgain(stored, logs);
    const unknown = [...fresh, ...moved.map(({ log }) => log)];
    const timed = await withTimes({ client, times }, stored, unknown, {
      after: parent?.time ?? 0,
      before: end.time,
    });
    const difference = {
      ...rest,
      fresh: timed.slice(0, fresh.length),
      moved: timed.slice(fresh.length).flatMap((log, place) => {
        const transfer = moved[place]?.transfer;
        return transfer === undefined ? [] : [{ transfer, log }];
      }),
    };
    const { provider } = client;
    return { from, to, provider, found: logs.length, difference, parent, end, state };
  }

  async function record(
    context: WriteContext,
    reading: RangeReading,
    { guard, isReading = true, within }: RecordOptions,
  ): Promise<void> {
    const { difference, end: to, provider } = reading;
    const parent = { height: reading.from - 1, hash: reading.parent?.hash ?? null };
    let { state } = reading;
    // Final blocks in which nothing is new do not depend on what the watcher reads meanwhile.
    const isEntered = !isSame(difference) || reading.to > state.cursorHeight;
    const batches = batchesOf(difference, freshMax);
    for (const [place, part] of batches.entries()) {
      const before = state;
      const after = isEntered ? { ...before, version: before.version + 1 } : before;
      const at = clock.now();
      await db.write(context, async (tx) => {
        await guard(tx);
        if (isEntered) {
          if (!(await replaceState(tx, before, after))) {
            throw new AnswerDropped("another process has looked at the network meanwhile");
          }
          await enter(tx, deps, { network, state: after, difference: part, verified: [], at });
        } else await assertStillFinal(tx, reading);
        await within?.(tx, part.fresh);
        if (place < batches.length - 1 || !isReading) return;
        await addReading(tx, network.id, { parent, to }, { provider, at });
      });
      state = after;
    }
  }

  /** Throws where the watcher was set back meanwhile: what was read may be of blocks that the chain has replaced. */
  async function assertStillFinal(tx: Tx, { to, state: before }: RangeReading): Promise<void> {
    const state = await tx.lockOne(stateTable, "WHERE network = $1", [network.id]);
    const isSetBack =
      state === null ||
      state.cursorHeight < Math.max(to, before.cursorHeight) ||
      (state.cursorHeight === before.cursorHeight && state.cursorHash !== before.cursorHash);
    if (isSetBack) throw new AnswerDropped("the chain replaced final blocks while they were read");
  }

  /** The watcher goes on meanwhile: where it comes between, the slice is read again. */
  async function scanThrough(
    context: WriteContext,
    range: BlockRange,
    guard: Guard,
  ): Promise<ScanReport> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const reading = await read(pool.client, scanSize, range);
        await record(context, reading, { guard });
        return { ...range, found: reading.found, fresh: reading.difference.fresh };
      } catch (error) {
        if (!(error instanceof AnswerDropped)) throw error;
        if (attempt >= attemptsMax) {
          throw new ScanInterrupted(`${error.message}. Scan the range again.`);
        }
      }
    }
  }

  return {
    network,
    async scan(context, { from, to }, guard = () => Promise.resolve()) {
      let found = 0;
      const fresh: TimedLog[] = [];
      for (let next = from; next <= to; next += sliceBlocks) {
        const slice = { from: next, to: Math.min(to, next + sliceBlocks - 1) };
        const report = await scanThrough(context, slice, guard);
        found += report.found;
        fresh.push(...report.fresh);
      }
      return { from, to, found, fresh };
    },
    read,
    record,
  };
}
