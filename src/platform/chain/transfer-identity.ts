import type { TransferLog, UnreadableLog } from "./client.ts";

/** A transfer whose place among equal ones is not known yet. */
export type UnnumberedTransfer = Omit<TransferLog, "ordinal">;

/**
 * The fields that identify a transfer on its network. `logIndex` is none of them: some sources count it in the block,
 * others in the transaction, and a reorganization changes it.
 */
export type TransferIdentity = Pick<
  TransferLog,
  "transactionHash" | "contract" | "from" | "to" | "amount" | "ordinal"
>;

/** Returns a text that two transfers of one network share if and only if they are the same. */
export function transferKey(transfer: TransferIdentity): string {
  return `${moneyKey(transfer)}:${String(transfer.ordinal)}`;
}

/**
 * Numbers the transfers of a list among equal ones of their transaction, from 0. The list must hold all equal ones, as
 * an answer does that is filtered by contract and recipient only. Which of them gets which number does not matter: they
 * differ in nothing.
 */
export function numbered(transfers: readonly UnnumberedTransfer[]): TransferLog[] {
  const counts = new Map<string, number>();
  return transfers.map((transfer) => {
    const key = moneyKey(transfer);
    const ordinal = counts.get(key) ?? 0;
    counts.set(key, ordinal + 1);
    return { ...transfer, ordinal };
  });
}

/** Returns true if one of the unreadable logs of an answer may be of a transaction, which the answer then does not deny. */
export function mayHide(
  unreadable: readonly UnreadableLog[],
  { transactionHash, blockHeight }: Pick<TransferLog, "transactionHash" | "blockHeight">,
): boolean {
  return unreadable.some((log) =>
    log.transactionHash === null
      ? log.blockHeight === null || log.blockHeight === blockHeight
      : log.transactionHash === transactionHash,
  );
}

function moneyKey(transfer: Omit<TransferIdentity, "ordinal">): string {
  const { transactionHash, contract, from, to, amount } = transfer;
  return `${transactionHash}:${contract}:${from}:${to}:${String(amount)}`;
}
