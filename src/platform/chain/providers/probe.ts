import {
  mayHide,
  transferKey,
  type Address,
  type ChainClient,
  type ListedTransfers,
  type Receipt,
  type TransferLog,
  type TransferQuery,
} from "../client.ts";
import type { OmittedTransfer } from "../state/provider-health.ts";
import { ProviderError } from "./error.ts";

/** Number of blocks whose receipts are searched for a transfer to compare. */
const blocksMax = 3;
/** Number of recipients that are then queried, in the way in which the watcher queries its addresses. */
const recipientsMax = 10;

/** The finding of a probe: logs that are complete, nothing to compare, or an omitted transfer with a description. */
export type Verdict =
  | "works"
  | "unknown"
  | { readonly reason: string; readonly omitted: OmittedTransfer };

/**
 * Checks that a node's log index works: compares the receipts of final blocks with the node's logs for the same
 * recipients. A node that was restored from a snapshot, or whose index was enabled late, responds with an empty list
 * (java-tron issues 4447, 4987, 6037 and 6384).
 *
 * Returns `unknown` if the blocks contain no transfer or the provider does not serve receipts of blocks.
 */
export async function probeLogs(
  client: ChainClient,
  finalHeight: number,
  contracts: readonly Address[],
): Promise<Verdict> {
  for (let height = finalHeight; height > finalHeight - blocksMax && height >= 0; height -= 1) {
    const reported = await client.blockTransfers(height, contracts);
    if (reported === null) return "unknown";
    const recipients = [...new Set(reported.map(({ to }) => to))].slice(0, recipientsMax);
    if (recipients.length === 0) continue;
    const reply = await client.transfers({ from: height, to: height, contracts, recipients });
    const listed = new Set(reply.logs.map(transferKey));
    const asked = new Set(recipients);
    const isHidden = (log: TransferLog) => mayHide(reply.unreadable ?? [], log);
    const leftOut = reported.filter(
      (log) => asked.has(log.to) && !listed.has(transferKey(log)) && !isHidden(log),
    );
    const [omitted] = leftOut;
    if (omitted === undefined) return "works";
    const count = `${String(leftOut.length)} of ${String(reported.length)}`;
    const { transactionHash, to } = omitted;
    const reason = `its logs omit ${count} transfers of block ${String(height)}`;
    return { reason, omitted: { transactionHash, to } };
  }
  return "unknown";
}

/**
 * Returns true if a node's logs still omit a transfer that it has the receipt of. A node without the receipt does not
 * contradict itself any more: a reorganization may have removed the transaction.
 */
export async function stillOmits(
  client: ChainClient,
  { transactionHash, to }: OmittedTransfer,
  contracts: readonly Address[],
): Promise<boolean> {
  const receipt = await client.receipt(transactionHash);
  if (receipt === null) return false;
  const { blockHeight: height } = receipt;
  const reply = await client.transfers({ from: height, to: height, contracts, recipients: [to] });
  const isListed = reply.logs.some((log) => log.transactionHash === transactionHash);
  return !isListed && !mayHide(reply.unreadable ?? [], receipt);
}

/**
 * Returns why a provider cannot read a range, in its words; null if it reads the range. Nodes say that logs were pruned
 * in many ways, or only that a block is missing, so the words decide nothing: a provider that reads its newest block
 * before and after it is asked for the range, and not the range, does not have it. Throws ProviderError if it reads
 * neither, is behind the range, limits requests, or may only allow fewer blocks at once (`range_too_large`).
 */
export async function refusalOf(client: ChainClient, query: TransferQuery): Promise<string | null> {
  if (client.refusal !== undefined) return client.refusal(query);
  const { latest, finalized } = await client.heads();
  if (finalized.height < query.to) {
    const { provider } = client;
    throw new ProviderError("it is behind the range", { kind: "unreachable", provider });
  }
  const newest = { ...query, from: latest.height, to: latest.height };
  await client.transfers(newest);
  const reason = await failureOf(client, query);
  // A provider that fails for newer blocks too, such as under load, has not refused the range.
  if (reason !== null) await client.transfers(newest);
  return reason;
}

/** Returns the reason why a provider does not read a range; null if it does. Throws errors that say nothing about its blocks. */
async function failureOf(client: ChainClient, query: TransferQuery): Promise<string | null> {
  const ends = [query.from, query.to];
  try {
    const missing = (await client.blocks(ends)).indexOf(null);
    if (missing >= 0) return `it does not have block ${String(ends[missing])}`;
    await client.transfers(query);
    return null;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const { kind, isUnasked, retryAfterMs, message } = error;
    const isPaused = kind === "rate_limited" || (kind === "unreachable" && retryAfterMs !== null);
    // The number of blocks may be refused, and not the blocks.
    const isTooMany = kind === "range_too_large" && query.from < query.to;
    if (isUnasked || isPaused || isTooMany) throw error;
    return message;
  }
}

/** A transaction with the block in which another answer has it. */
export interface IncludedTransaction {
  readonly transactionHash: string;
  readonly blockHeight: number;
  readonly blockHash: string;
}

/**
 * Returns the receipt of a transaction, or the same from the logs of its block: some nodes have no receipts of
 * transactions that a bridge created. A failed transaction has no logs, so logs on the provider's chain prove as much as
 * a receipt. Null if the provider has neither, or another block at the height.
 */
export async function receiptOrLogs(
  client: ChainClient,
  included: IncludedTransaction,
  contracts: readonly Address[],
): Promise<Receipt | null> {
  const { transactionHash, blockHeight, blockHash } = included;
  const receipt = await client.receipt(transactionHash);
  if (receipt !== null || client.transfersIn === undefined) return receipt;
  const [block] = await client.blocks([blockHeight]);
  // A node also has the logs of blocks that a reorganization replaced.
  if (block?.hash !== blockHash) return null;
  const { logs, unreadable = [] } = await logsIn(client, blockHash, contracts);
  const transfers = logs.filter((log) => log.transactionHash === transactionHash);
  const unreadableLogs = unreadable.filter((log) => mayHide([log], included)).length;
  if (transfers.length + unreadableLogs === 0) return null;
  const found = { transactionHash, succeeded: true, blockHeight, blockHash, transfers };
  return unreadableLogs === 0 ? found : { ...found, unreadableLogs };
}

/** Returns the logs of a block; none if the provider refuses, as those do that read logs by height alone. */
async function logsIn(
  client: ChainClient,
  blockHash: string,
  contracts: readonly Address[],
): Promise<Omit<ListedTransfers, "latest">> {
  try {
    return (await client.transfersIn?.(blockHash, contracts)) ?? { logs: [] };
  } catch (error) {
    if (error instanceof ProviderError && isReply(error)) return { logs: [] };
    throw error;
  }
}

/** Returns true if an error concerns a request and not the provider. */
export function isReply({ kind }: ProviderError): boolean {
  return kind === "refused" || kind === "malformed" || kind === "range_too_large";
}
