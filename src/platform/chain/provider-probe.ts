import type { Address, ChainClient } from "./client.ts";

/** Blocks whose receipts are read in search of a transfer to compare with. */
const blocksMax = 3;
/** Recipients that are then asked for, as the watcher asks for its own. */
const recipientsMax = 10;

/**
 * Whether a node's index of logs works: final blocks' receipts are compared with what the node answers when it is asked
 * for transfers to the same recipients. A node that was restored from a snapshot, or whose index was switched on
 * late, answers with an empty list (java-tron issues 4447, 4987, 6037 and 6384).
 *
 * Gives what it left out; `works` where nothing is missing; `unknown` where the blocks hold no transfer or the provider
 * does not offer receipts of blocks.
 */
export async function probeLogs(
  client: ChainClient,
  finalHeight: number,
  contracts: readonly Address[],
): Promise<"works" | "unknown" | { readonly leftOut: string }> {
  for (let height = finalHeight; height > finalHeight - blocksMax && height >= 0; height -= 1) {
    const told = await client.blockTransfers(height, contracts);
    if (told === null) return "unknown";
    const recipients = [...new Set(told.map(({ to }) => to))].slice(0, recipientsMax);
    if (recipients.length === 0) continue;
    const answer = await client.transfers({ from: height, to: height, contracts, recipients });
    const listed = new Set(answer.logs.map(placeOf));
    const asked = new Set(recipients);
    const leftOut = told.filter((log) => asked.has(log.to) && !listed.has(placeOf(log)));
    if (leftOut.length === 0) return "works";
    const count = `${String(leftOut.length)} of ${String(told.length)}`;
    return { leftOut: `it leaves out ${count} transfers of block ${String(height)}` };
  }
  return "unknown";
}

function placeOf(log: { readonly transactionHash: string; readonly logIndex: number }): string {
  return `${log.transactionHash}:${String(log.logIndex)}`;
}
