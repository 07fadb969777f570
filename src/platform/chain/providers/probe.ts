import type { Address, ChainClient, TransferLog } from "../client.ts";
import type { OmittedTransfer } from "../state/provider-health.ts";
import { mayHide, transferKey } from "../transfer-identity.ts";

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
    const answer = await client.transfers({ from: height, to: height, contracts, recipients });
    const listed = new Set(answer.logs.map(transferKey));
    const asked = new Set(recipients);
    const isHidden = (log: TransferLog) => mayHide(answer.unreadable ?? [], log);
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
  const answer = await client.transfers({ from: height, to: height, contracts, recipients: [to] });
  const isListed = answer.logs.some((log) => log.transactionHash === transactionHash);
  return !isListed && !mayHide(answer.unreadable ?? [], receipt);
}
