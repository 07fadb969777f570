import type { Instant } from "../../kernel/clock.ts";
import type { Address, ChainClient, Head, TransferLog } from "../../platform/chain/client.ts";
import type { Network } from "../../platform/chain/networks.ts";
import { knownBlocks, type KnownBlock, type NetworkStateRow } from "../../platform/chain/state.ts";
import type { Reader } from "../../platform/database/index.ts";
import { AnswerDropped, look, type Look, type RangeSize, type Recipients } from "./look.ts";
import type { Invoices } from "./ports.ts";
import { revocableTransfers, transfersOfTransactions } from "./store.ts";
import type { TransferRow } from "./table.ts";
import { isStillThere } from "./verify.ts";
import { compareWindow, type TimedLog, type WindowDifference } from "./window.ts";

/** What a look at the chain found, compared with what is stored. */
export interface News {
  readonly look: Look;
  /** The kept blocks before this look. */
  readonly known: readonly KnownBlock[];
  readonly difference: WindowDifference<TimedLog>;
  /** There are transfers that the chain may still take back, or might before this look. */
  readonly hasRevocable: boolean;
}

export interface NewsRequest {
  readonly db: Reader;
  readonly client: ChainClient;
  readonly network: Network;
  readonly invoices: Pick<Invoices, "watchedAddresses" | "watchedAmong">;
  readonly state: NetworkStateRow;
  readonly heads: { readonly latest: Head; readonly finalized: Head };
  readonly rangeSize: RangeSize;
}

/** Providers filter by so many recipients; above that, every transfer is fetched and filtered here. */
const recipientsMax = 1_000;

/** Of so many transfers that seem to have vanished, receipts are asked for. */
const receiptsMax = 20;

export async function findNews(request: NewsRequest): Promise<News> {
  const { db, client, network } = request;
  const [revocable, known] = await Promise.all([
    revocableTransfers(db, network.id),
    knownBlocks(db, network.id),
  ]);
  const found = await look({
    ...request,
    known,
    contracts: network.tokens.map(({ contract }) => contract),
    recipients: await recipientsOf(request, revocable),
  });
  const stored = await withTheirTransactions(request, revocable, found.logs);
  const range = { from: found.base.height + 1, to: found.to.height };
  const compared = compareWindow(stored, found.logs, range);
  await assertGone(client, compared.orphaned);
  const difference = await withTimes(client, stored, compared);
  return {
    look: found,
    known,
    difference,
    hasRevocable: revocable.length + difference.fresh.length + difference.moved.length > 0,
  };
}

/**
 * A provider whose index of logs is broken answers with nothing, as if money had vanished. What it still has a receipt
 * for is not gone, and then neither is the rest of its answer to be believed.
 */
async function assertGone(client: ChainClient, orphaned: readonly TransferRow[]): Promise<void> {
  const asked = orphaned.slice(0, receiptsMax);
  const found = await Promise.all(asked.map((transfer) => isStillThere(client, transfer)));
  if (found.includes(true)) {
    throw new AnswerDropped(`${client.provider} left transfers out that it has receipts for`, {
      isUntruthful: true,
    });
  }
}

/** The addresses with a hold, and those of transfers that can still be taken back though their hold has ended. */
export async function recipientsOf(
  { db, network, invoices }: Pick<NewsRequest, "db" | "network" | "invoices">,
  revocable: readonly TransferRow[],
): Promise<Recipients> {
  const paid = revocable.map(({ toAddress }) => toAddress);
  const held = await invoices.watchedAddresses(db, network.id, recipientsMax + 1);
  const all = new Set<Address>([...held, ...paid]);
  if (all.size <= recipientsMax) {
    return { addresses: [...all], among: () => Promise.resolve(all) };
  }
  return {
    addresses: null,
    among: async (addresses) =>
      new Set([...paid, ...(await invoices.watchedAmong(db, network.id, addresses))]),
  };
}

/** Adds what left the chain, or is final, of the transactions whose logs are not where they are expected. */
async function withTheirTransactions(
  { db, network }: NewsRequest,
  revocable: readonly TransferRow[],
  logs: readonly TransferLog[],
): Promise<readonly TransferRow[]> {
  const places = new Set(revocable.map(placeKey));
  const displaced = logs.filter((log) => !places.has(placeKey(log)));
  const hashes = new Set(displaced.map(({ transactionHash }) => transactionHash));
  const others = await transfersOfTransactions(db, network.id, [...hashes]);
  return [...new Map([...revocable, ...others].map((row) => [row.id, row])).values()];
}

function placeKey(at: {
  readonly transactionHash: string;
  readonly logIndex: number;
  readonly blockHash: string;
}): string {
  return `${at.transactionHash}:${String(at.logIndex)}:${at.blockHash}`;
}

/** The difference with the time of every new log's block, all those that are missing read at once. */
export async function withTimes(
  client: ChainClient,
  stored: readonly TransferRow[],
  difference: WindowDifference,
): Promise<WindowDifference<TimedLog>> {
  const { fresh, moved, orphaned } = difference;
  const logs = [...fresh, ...moved.map(({ log }) => log)];
  const times = new Map<string, Instant>(stored.map((row) => [row.blockHash, row.blockTime]));
  for (const { blockHash, blockTime } of logs) {
    if (blockTime !== null) times.set(blockHash, blockTime);
  }
  const missing = logs.filter(({ blockHash }) => !times.has(blockHash));
  const heights = [...new Set(missing.map(({ blockHeight }) => blockHeight))];
  for (const block of heights.length === 0 ? [] : await client.blocks(heights)) {
    if (block !== null) times.set(block.hash, block.time);
  }
  const timed = (log: TransferLog): TimedLog => {
    const blockTime = times.get(log.blockHash);
    if (blockTime === undefined) throw new AnswerDropped("a log's block was replaced");
    return { ...log, blockTime };
  };
  return {
    fresh: fresh.map(timed),
    moved: moved.map(({ transfer, log }) => ({ transfer, log: timed(log) })),
    orphaned,
    contradicting: difference.contradicting,
  };
}
