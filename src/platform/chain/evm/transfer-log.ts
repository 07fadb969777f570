import {
  numbered,
  type Address,
  type DroppedPart,
  type Receipt,
  type UnnumberedTransfer,
  type UnreadableLog,
} from "../client.ts";
import {
  MalformedReply,
  readable,
  readArray,
  readHash,
  readHex,
  readObject,
  readQuantity,
} from "./values.ts";

/** keccak256("Transfer(address,address,uint256)") */
export const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/** Counts a part of an answer that is dropped. */
export type NoteDropped = (part: DroppedPart) => void;

/** The circumstances of a list of logs. */
interface LogContext {
  readonly note: NoteDropped;
  /** The requested blocks, both ends included; a log above them without a block's hash is pending. */
  readonly range?: { readonly from: number; readonly to: number };
  /** The receipt of the logs, which repeat its fields. */
  readonly receipt?: Pick<Receipt, "transactionHash" | "blockHeight" | "blockHash">;
  /** Returns whether a log of this contract to this recipient matters; null: unreadable. Without it, every log does. */
  readonly matters?: (contract: Address | null, to: Address | null) => boolean;
}

/** The transfers of a list of logs, each once, and the logs that may be transfers but cannot be read. */
export interface LogList {
  readonly transfers: readonly UnnumberedTransfer[];
  readonly unreadable: readonly UnreadableLog[];
}

/**
 * Returns the transfers among a list of logs; null, with which some nodes answer, is an empty list. A log that cannot be
 * read spoils no other one.
 */
export function readTransfers(value: unknown, context: LogContext): LogList {
  const transfers = new Map<string, UnnumberedTransfer>();
  const unreadable: UnreadableLog[] = [];
  for (const [index, log] of (value === null ? [] : readArray(value, "the logs")).entries()) {
    const read = readTransfer(log, index, context);
    if (read === null) continue;
    if ("reason" in read) unreadable.push(read);
    else if (transfers.has(read.key)) context.note("repeated_log");
    else transfers.set(read.key, read.transfer);
  }
  return { transfers: [...transfers.values()], unreadable };
}

/**
 * Parses one log. Returns null if it is not a transfer of a token amount: another event, an ERC-721 transfer (four
 * topics), an amount of 0, a log that a reorganization removed, a pending one, or one that does not matter.
 */
function readTransfer(
  value: unknown,
  listIndex: number,
  context: LogContext,
): { readonly key: string; readonly transfer: UnnumberedTransfer } | UnreadableLog | null {
  const log = readable(() => readObject(value, "a log")) ?? {};
  try {
    const topics = readArray(log["topics"], "a log's topics");
    const [event, from, to] = topics;
    const isTransfer =
      topics.length === 3 && `0x${readHex(event, 64, "a log's topic")}` === transferTopic;
    if (!isTransfer || isOfOtherForm(log, context)) {
      // A receipt has the logs of all events; a list of logs has those that were asked for.
      if (context.receipt === undefined) context.note("other_log");
      return null;
    }
    const amount = BigInt(`0x${readHex(log["data"], 64, "a log's data")}`);
    if (amount === 0n) return null;
    if (log["removed"] === true || isPending(log, context)) {
      context.note("pending_log");
      return null;
    }
    const logIndex = optional(log["logIndex"], "a log's logIndex", context.note);
    const blockTime = optional(log["blockTimestamp"], "a log's blockTimestamp", context.note);
    const transfer = {
      ...readPosition(log, context),
      logIndex: logIndex ?? listIndex,
      blockTime: blockTime === null ? null : blockTime * 1_000,
      contract: readHex(log["address"], 40, "a log's address"),
      from: readTopicAddress(from),
      to: readTopicAddress(to),
      amount,
    };
    // A log without an index differs from an equal one by its index in the list.
    const index = logIndex === null ? `place ${String(listIndex)}` : String(logIndex);
    const { transactionHash, blockHash, contract, from: sender, to: recipient } = transfer;
    const key = [transactionHash, blockHash, index, contract, sender, recipient, amount].join(":");
    return { key, transfer };
  } catch (error) {
    if (!(error instanceof MalformedReply) || error instanceof ForeignLog) throw error;
    return dropUnreadable(log, error.message, context);
  }
}

/** True if a log in a receipt, which may be of any contract, has something else than an amount as its data. */
function isOfOtherForm({ data }: Fields, { receipt }: LogContext): boolean {
  if (receipt === undefined || typeof data !== "string" || data.length === 66) return false;
  return data.length % 2 === 0 && /^0x[0-9a-fA-F]*$/.test(data);
}

/** A receipt contains a log of another transaction or block, so that nothing in it is believed. */
class ForeignLog extends MalformedReply {}

type Fields = Readonly<Record<string, unknown>>;

/** True for a log that is in no block: the logs of a node's own next block have its height, and no hash of a block. */
function isPending({ blockNumber, blockHash }: Fields, { range, receipt }: LogContext): boolean {
  if (receipt !== undefined) return false;
  if (blockNumber === null) return true;
  const isBlank = blockHash === null || blockHash === `0x${"0".repeat(64)}`;
  const height = readable(() => readQuantity(blockNumber, "a log's blockNumber"));
  return isBlank && range !== undefined && height !== null && height > range.to;
}

/** Reads the transaction and the block of a log. In a receipt, which has them too, unreadable ones are absent. */
function readPosition(log: Fields, { receipt, range }: LogContext) {
  const transactionHash = () => readHash(log["transactionHash"], "a log's transactionHash");
  const blockHash = () => readHash(log["blockHash"], "a log's blockHash");
  if (receipt === undefined) {
    const blockHeight = readQuantity(log["blockNumber"], "a log's blockNumber");
    if (range !== undefined && (blockHeight < range.from || blockHeight > range.to)) {
      throw new MalformedReply("a log belongs to a block that was not requested");
    }
    return { transactionHash: transactionHash(), blockHeight, blockHash: blockHash() };
  }
  const { transactionHash: ownTransaction, blockHash: ownBlock } = receipt;
  if (
    (readable(transactionHash) ?? ownTransaction) !== ownTransaction ||
    (readable(blockHash) ?? ownBlock) !== ownBlock
  ) {
    throw new ForeignLog("a receipt contains a log of another transaction");
  }
  return receipt;
}

/** Reads a field that may be absent; null if it is, or if it cannot be read. */
function optional(value: unknown, what: string, note: NoteDropped): number | null {
  if (value === undefined || value === null) return null;
  const number = readable(() => readQuantity(value, what));
  if (number === null) note("optional_field");
  return number;
}

/** Counts an unreadable log. Returns null unless it may be a transfer that matters. */
function dropUnreadable(
  log: Fields,
  reason: string,
  { note, matters, receipt }: LogContext,
): UnreadableLog | null {
  const { topics } = log;
  const contract = readable(() => readHex(log["address"], 40, "a log's address"));
  const to = readable(() => readTopicAddress(readArray(topics, "a log's topics")[2]));
  if (matters?.(contract, to) === false) {
    note("other_log");
    return null;
  }
  note("unreadable_log");
  return {
    transactionHash:
      receipt?.transactionHash ?? readable(() => readHash(log["transactionHash"], "a hash")),
    blockHeight:
      receipt?.blockHeight ?? readable(() => readQuantity(log["blockNumber"], "a height")),
    reason,
  };
}

/** Returns the address in the last 20 of a topic's 32 bytes. */
function readTopicAddress(topic: unknown): Address {
  return readHex(topic, 64, "a log's topic").slice(24);
}

/** Parses a receipt; null if the node has none, or has one of a transaction that is in no block yet. */
export function readReceipt(value: unknown, note: NoteDropped): Receipt | null {
  if (value === null) return null;
  const fields = readObject(value, "a receipt");
  if (fields["blockNumber"] === null || fields["blockHash"] === null) return null;
  const blockHeight = readQuantity(fields["blockNumber"], "a receipt's blockNumber");
  const blockHash = readHash(fields["blockHash"], "a receipt's blockHash");
  const transactionHash = readHash(fields["transactionHash"], "a receipt's transactionHash");
  const succeeded = readQuantity(fields["status"], "a receipt's status") === 1;
  const receipt = { transactionHash, blockHeight, blockHash };
  const { transfers, unreadable } = readTransfers(fields["logs"], { note, receipt });
  return {
    ...receipt,
    succeeded,
    transfers: succeeded ? numbered(transfers) : [],
    ...(succeeded && unreadable.length > 0 ? { unreadableLogs: unreadable.length } : {}),
  };
}

/** Sorts logs in chain order. */
export function inChainOrder<Log extends UnnumberedTransfer>(logs: readonly Log[]): Log[] {
  return logs.toSorted(
    (one, other) => one.blockHeight - other.blockHeight || one.logIndex - other.logIndex,
  );
}
