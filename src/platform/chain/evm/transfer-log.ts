import type { Address, Receipt, TransferLog } from "../client.ts";
import {
  MalformedAnswer,
  readArray,
  readHash,
  readHex,
  readObject,
  readQuantity,
} from "./values.ts";

/** keccak256("Transfer(address,address,uint256)") */
export const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/**
 * Parses one log. Returns null if it is not a transfer of a token amount: another event, an ERC-721 transfer (four
 * topics), an amount of 0, or a log that a reorganization removed. Throws if the log may be a transfer but cannot be
 * parsed, because dropping it would lose money.
 */
export function readTransfer(value: unknown): TransferLog | null {
  const log = readObject(value, "a log");
  const topics = readArray(log["topics"], "a log's topics");
  const [event, from, to] = topics;
  if (topics.length !== 3 || typeof event !== "string") return null;
  if (event.toLowerCase() !== transferTopic || log["removed"] === true) return null;
  const { data } = log;
  if (typeof data !== "string") throw new MalformedAnswer("a log's data is not hex");
  if (data.length !== 66) return null;
  const amount = BigInt(`0x${readHex(data, 64, "a log's data")}`);
  if (amount === 0n) return null;
  const { blockTimestamp } = log;
  return {
    transactionHash: readHash(log["transactionHash"], "a log's transactionHash"),
    logIndex: readQuantity(log["logIndex"], "a log's logIndex"),
    blockHeight: readQuantity(log["blockNumber"], "a log's blockNumber"),
    blockHash: readHash(log["blockHash"], "a log's blockHash"),
    blockTime:
      blockTimestamp === undefined || blockTimestamp === null
        ? null
        : readQuantity(blockTimestamp, "a log's blockTimestamp") * 1_000,
    contract: readHex(log["address"], 40, "a log's address"),
    from: readTopicAddress(from),
    to: readTopicAddress(to),
    amount,
  };
}

/** Returns the address in the last 20 of a topic's 32 bytes. */
function readTopicAddress(topic: unknown): Address {
  return readHex(topic, 64, "a log's topic").slice(24);
}

/** Parses a receipt; null if the node has none. */
export function readReceipt(value: unknown): Receipt | null {
  if (value === null) return null;
  const fields = readObject(value, "a receipt");
  const blockHeight = readQuantity(fields["blockNumber"], "a receipt's blockNumber");
  const blockHash = readHash(fields["blockHash"], "a receipt's blockHash");
  const transactionHash = readHash(fields["transactionHash"], "a receipt's transactionHash");
  const succeeded = readQuantity(fields["status"], "a receipt's status") === 1;
  const transfers = readTransfers(fields["logs"]);
  for (const transfer of transfers) {
    if (transfer.transactionHash !== transactionHash || transfer.blockHash !== blockHash) {
      throw new MalformedAnswer("a receipt contains a log of another transaction");
    }
  }
  return {
    transactionHash,
    succeeded,
    blockHeight,
    blockHash,
    transfers: succeeded ? transfers : [],
  };
}

/** Returns the transfers among a list of logs. */
export function readTransfers(value: unknown): TransferLog[] {
  return readArray(value, "the logs")
    .map(readTransfer)
    .filter((transfer) => transfer !== null);
}

/** Sorts logs in chain order without duplicates: a recipient that was listed twice yields its logs twice. */
export function inChainOrder(logs: readonly TransferLog[]): TransferLog[] {
  const seen = new Map(logs.map((log) => [`${log.transactionHash}:${String(log.logIndex)}`, log]));
  return [...seen.values()].sort(
    (one, other) => one.blockHeight - other.blockHeight || one.logIndex - other.logIndex,
  );
}
