import type { Clock } from "../../kernel/clock.ts";
import type { Network } from "../../platform/chain/networks.ts";
import type { ProviderPool } from "../../platform/chain/provider-pool.ts";
import { addScan } from "../../platform/chain/scans.ts";
import {
  knownOf,
  networkState,
  replaceState,
  type NetworkStateRow,
} from "../../platform/chain/state.ts";
import type { Database, WriteContext } from "../../platform/database/index.ts";
import type { BlockTimes } from "./block-times.ts";
import type { LedgerDeps } from "./entry.ts";
import { enter } from "./ledger.ts";
import { AnswerDropped, blockAt, makeRangeSize, readLogs } from "./look.ts";
import { recipientsOf, withTimes } from "./news.ts";
import { ScanInterrupted } from "./errors.ts";
import type { Guard } from "./recorder.ts";
import { revocableTransfers, transfersOfTransactions } from "./store.ts";
import { batchesOf, compareAgain, type BlockRange, type TimedLog } from "./window.ts";

export interface ScanReport extends BlockRange {
  /** Transfers to watched addresses in the range. */
  readonly found: number;
  /** Those of them that were not on record. */
  readonly fresh: readonly TimedLog[];
}

/** Reads blocks again that the watcher has read before; what is on record stays as it is. */
export interface Scanner {
  readonly network: Network;
  /** Reads the range and enters what is not on record. Throws ScanInterrupted where others changed the network meanwhile. */
  scan(context: WriteContext, range: BlockRange, guard?: Guard): Promise<ScanReport>;
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
  const { client } = pool;
  const rangeSize = makeRangeSize(network.maxLogRange);
  const contracts = network.tokens.map(({ contract }) => contract);

  async function read(state: NetworkStateRow, { from, to }: BlockRange) {
    const { latest } = await client.heads(knownOf(state));
    const revocable = await revocableTransfers(db, network.id);
    const end = await blockAt(client, to);
    const [parent] = from === 0 ? [null] : await client.blocks([from - 1]);
    const logs = await readLogs(
      {
        ...{ client, rangeSize, contracts },
        recipients: await recipientsOf({ db, network, invoices: deps.invoices }, revocable),
      },
      from,
      end,
      latest,
    );
    const hashes = new Set(logs.map(({ transactionHash }) => transactionHash));
    const stored = await transfersOfTransactions(db, network.id, [...hashes]);
    const timed = await withTimes({ client, times }, stored, logs, {
      after: parent?.time ?? 0,
      before: end.time,
    });
    const difference = compareAgain(stored, timed);
    return { logs, difference, end, parentHash: parent?.hash ?? null };
  }

  async function scanSlice(
    context: WriteContext,
    range: BlockRange,
    guard: Guard,
  ): Promise<ScanReport> {
    const stored = await networkState(db, network.id);
    if (stored === null) throw new AnswerDropped("the network was never reached");
    const { logs, difference, end, parentHash } = await read(stored, range);
    let state = stored;
    const batches = batchesOf(difference, freshMax);
    for (const [place, part] of batches.entries()) {
      const before = state;
      const after = { ...before, version: before.version + 1 };
      const at = clock.now();
      await db.write(context, async (tx) => {
        await guard(tx);
        if (!(await replaceState(tx, before, after))) {
          throw new AnswerDropped("another process has looked at the network meanwhile");
        }
        await enter(tx, deps, { network, state: after, difference: part, verified: [], at });
        if (place < batches.length - 1) return;
        const parent = { height: range.from - 1, hash: parentHash };
        await addScan(tx, network.id, "watched", { parent, to: end }, at);
      });
      state = after;
    }
    return { ...range, found: logs.length, fresh: difference.fresh };
  }

  /** The watcher goes on meanwhile: where it comes between, the slice is read again. */
  async function scanThrough(
    context: WriteContext,
    range: BlockRange,
    guard: Guard,
  ): Promise<ScanReport> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await scanSlice(context, range, guard);
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
  };
}
