import type { Instant } from "../../kernel/clock.ts";
import type { ProviderError } from "./providers/error.ts";

/**
 * An address in its canonical form inside Till: one text for each account, which networks of the same address family
 * share. On EVM networks and TRON, the 20 bytes as 40 lower-case hexadecimal digits without 0x.
 */
export type Address = string;

/** The fields of a block that Till needs. */
export interface Head {
  readonly height: number;
  /** In the canonical form of the network's kind; on EVM networks and TRON, 64 lower-case hexadecimal digits. */
  readonly hash: string;
  /** The timestamp in the block. */
  readonly time: Instant;
}

/** The newest block and the newest final block of one provider, from one response. */
export interface Heads {
  readonly latest: Head;
  readonly finalized: Head;
  /**
   * The block at the height of the known final block; null if it was not requested or the provider does not have it.
   */
  readonly known: Head | null;
}

/** The chain as it was scanned, with which a provider's heads are compared. */
export interface KnownChain {
  readonly tipHeight: number;
  /** The newest final block that was scanned; its time is 0 if no provider has returned it. */
  readonly final: Head;
}

/** One Transfer event of a token contract. */
export interface TransferLog {
  /** In the canonical form of the network's kind, which `parseTransactionHash` returns. */
  readonly transactionHash: string;
  /**
   * The event's index in its block, for display and order only: some providers count in the transaction, and a
   * reorganization may change it.
   */
  readonly logIndex: number;
  /** Its position, from 0, among the transfers of its transaction with the same contract, parties and amount. */
  readonly ordinal: number;
  readonly blockHeight: number;
  readonly blockHash: string;
  /** Null if the node omits it from the log; `blocks` returns it then. */
  readonly blockTime: Instant | null;
  readonly contract: Address;
  readonly from: Address;
  readonly to: Address;
  /** In the token's smallest unit; always greater than 0. */
  readonly amount: bigint;
}

/** The result of a transaction that is in a block. */
export interface Receipt {
  readonly transactionHash: string;
  /** False: the transaction failed and had no effect; `transfers` is empty then. */
  readonly succeeded: boolean;
  readonly blockHeight: number;
  readonly blockHash: string;
  /** The transfers of all contracts: the caller selects those that it watches. */
  readonly transfers: readonly TransferLog[];
  /** The number of its logs that may be transfers and cannot be read; none if it is missing. */
  readonly unreadableLogs?: number;
}

/**
 * The parts of a provider's answers that are dropped alone, so that they spoil nothing else:
 * - `pending_log`: a log that is in no block yet, or no longer
 * - `unreadable_log`: a log that may be a transfer to a watched address
 * - `other_log`: a log of another event, or an unreadable one of another contract or recipient
 * - `repeated_log`: a log that the same answer has already listed
 * - `optional_field`: the time or the index of a log
 * - `block`: one of several blocks
 * - `receipt`: a receipt of a block that a probe compares
 * - `response`: a member of a batch that belongs to no call
 */
export type DroppedPart =
  | "pending_log"
  | "unreadable_log"
  | "other_log"
  | "repeated_log"
  | "optional_field"
  | "block"
  | "receipt"
  | "response";

/** A log that may be a transfer to a watched address, but cannot be read; with its fields that can. */
export interface UnreadableLog {
  readonly transactionHash: string | null;
  readonly blockHeight: number | null;
  /** The field that cannot be read. */
  readonly reason: string;
}

/** The transfers that a provider lists. */
export interface ListedTransfers {
  readonly logs: readonly TransferLog[];
  /** The newest block, read after the logs. */
  readonly latest: Head;
  /** Money may be missing from `logs` for each of these. None if it is missing. */
  readonly unreadable?: readonly UnreadableLog[];
}

/** The transfers to read: a range of blocks, both ends included, with contracts and recipients. */
export interface TransferQuery {
  readonly from: number;
  readonly to: number;
  readonly contracts: readonly Address[];
  /** Null: any recipient. */
  readonly recipients: readonly Address[] | null;
}

/**
 * One provider of one network: a node, or the sandbox. Every method throws `ProviderError` if the
 * provider cannot be used. The form of a response has been checked, but not its truth.
 */
export interface ChainClient {
  /** The network's id, such as `tron`. */
  readonly network: string;
  /** The provider's origin, which operators see. It never contains a path or a key. */
  readonly provider: string;
  chainId(): Promise<number>;
  /**
   * Reads, in one request, the tip, the final block and the block at the height of `known.final`. A pool of providers
   * prefers one whose tip is not below `known.tipHeight`.
   */
  heads(known?: KnownChain): Promise<Heads>;
  /**
   * Reads every transfer above zero in the range, in chain order, and the tip again in the same batch. If that tip
   * differs from the one that the caller knows, the transfers may come from two forks, and the caller must read them
   * again.
   */
  transfers(query: TransferQuery): Promise<ListedTransfers>;
  /**
   * Reads the transfers of one block from its receipts. A node with a broken log index returns all of them here, but
   * none from `transfers`. Returns null if the provider does not offer it.
   */
  blockTransfers(height: number, contracts: readonly Address[]): Promise<TransferLog[] | null>;
  /**
   * Reads the blocks at these heights, in the same order; null for each block that the provider does not have, or that
   * cannot be read although another one can.
   */
  blocks(heights: readonly number[]): Promise<(Head | null)[]>;
  /** Returns null if the provider knows no block with this transaction. */
  receipt(transactionHash: string): Promise<Receipt | null>;
  /**
   * Reads several receipts in one request, in the same order; each may have an error of its own. Absent if the provider
   * answers each alone.
   */
  receipts?(transactionHashes: readonly string[]): Promise<(Receipt | null | ProviderError)[]>;
  /**
   * Reads the transfers in the block with this hash, which need not be on the provider's chain. A transaction that failed
   * has none. Absent if the provider does not offer it.
   */
  transfersIn?(
    blockHash: string,
    contracts: readonly Address[],
  ): Promise<Omit<ListedTransfers, "latest">>;
  /**
   * Returns why the provider cannot read a range of final blocks, in its words, although it reads its newest block; null
   * if it reads the range. Unlike a failed `transfers`, a refusal does not exclude the provider. Throws ProviderError
   * (`range_too_large`) if fewer blocks must be asked for. Absent if `refusalOf` finds it out.
   */
  refusal?(query: TransferQuery): Promise<string | null>;
  /** Reads the decimals that a token contract states. */
  decimals(contract: Address): Promise<number>;
  /** Returns how many parts of answers were dropped since the process began. Absent if nothing is parsed. */
  dropped?(): Readonly<Partial<Record<DroppedPart, number>>>;
}

/** A transfer whose position among equal ones is not known yet. */
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
