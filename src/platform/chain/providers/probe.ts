import type { Address, ChainClient } from "../client.ts";

/** Number of blocks whose receipts are searched for a transfer to compare. */
const blocksMax = 3;
/** Number of recipients that are then queried, in the way in which the watcher queries its addresses. */
const recipientsMax = 10;

/**
 * Checks that a node's log index works: compares the receipts of final blocks with the node's logs for the same
 * recipients. A node that was restored from a snapshot, or whose index was enabled late, responds with an empty list
 * (java-tron issues 4447, 4987, 6037 and 6384).
 * || Returns a description of the omitted transfers; `works` if none is missing; `unknown` if the blocks contain no
 * transfer or the provider does not serve receipts of blocks.
 */
export async function probeLogs(
  client: ChainClient,
  finalHeight: number,
  contracts: readonly Address[],
): Promise<"works" | "unknown" | { readonly leftOut: string }> {
  for (let height = finalHeight; height > finalHeight - blocksMax && height >= 0; height -= 1) {
    const reported = await client.blockTransfers(height, contracts);
    if (reported === null) return "unknown";
    const recipients = [...new Set(reported.map(({ to }) => to))].slice(0, recipientsMax);
    if (recipients.length === 0) continue;
    const answer = await client.transfers({ from: height, to: height, contracts, recipients });
    const listed = new Set(answer.logs.map(placeOf));
    const asked = new Set(recipients);
    const leftOut = reported.filter((log) => asked.has(log.to) && !listed.has(placeOf(log)));
    if (leftOut.length === 0) return "works";
    const count = `${String(leftOut.length)} of ${String(reported.length)}`;
    return { leftOut: `its logs omit ${count} transfers of block ${String(height)}` };
  }
  return "unknown";
}

function placeOf(log: { readonly transactionHash: string; readonly logIndex: number }): string {
  return `${log.transactionHash}:${String(log.logIndex)}`;
}
