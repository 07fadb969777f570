/**
 * Converts an EVM node's blocks, transactions, receipts and logs to those of java-tron's JSON-RPC: only the fields that
 * it has, block hashes that begin with the height, and zeros for fields that TRON's blocks lack.
 */
import { asRecord, asText } from "./json-rpc.ts";

type Fields = Readonly<Record<string, unknown>>;

const zeroHash = `0x${"0".repeat(64)}`;
const zeroBloom = `0x${"0".repeat(512)}`;

/** Normalizes a hash to lowercase with 0x; TRON's interfaces also accept hashes without it. */
export function plainHash(hash: string): string {
  return `0x${hash.replace(/^0x/, "").toLowerCase()}`;
}

/** Replaces the first 8 bytes by the height, as in every block hash of TRON. */
function blockHash(hash: unknown, height: number): string {
  return `0x${height.toString(16).padStart(16, "0")}${asText(hash).slice(18)}`;
}

export function blockFields(block: Fields): Fields {
  const height = Number(asText(block["number"]));
  const transactions = block["transactions"] as unknown[];
  return {
    number: block["number"],
    hash: blockHash(block["hash"], height),
    parentHash: height === 0 ? zeroHash : blockHash(block["parentHash"], height - 1),
    miner: block["miner"],
    timestamp: block["timestamp"],
    size: block["size"],
    transactionsRoot: block["transactionsRoot"],
    stateRoot: "0x",
    transactions: transactions.map((item) =>
      typeof item === "string" ? item : transactionFields(asRecord(item)),
    ),
    uncles: [],
    gasLimit: "0x0",
    gasUsed: "0x0",
    difficulty: "0x0",
    totalDifficulty: "0x0",
    extraData: "0x",
    logsBloom: zeroBloom,
    nonce: "0x0000000000000000",
    sha3Uncles: zeroHash,
    receiptsRoot: zeroHash,
    mixHash: zeroHash,
    baseFeePerGas: "0x0",
  };
}

export function transactionFields(transaction: Fields): Fields {
  return {
    hash: transaction["hash"],
    ...place(transaction),
    from: transaction["from"],
    to: transaction["to"],
    value: transaction["value"],
    gas: transaction["gas"],
    gasPrice: "0x64",
    input: transaction["input"],
    type: "0x0",
    nonce: "0x0000000000000000",
    v: transaction["v"],
    r: transaction["r"],
    s: transaction["s"],
  };
}

export function receiptFields(receipt: Fields, withTimes: boolean): Fields {
  return {
    ...place(receipt),
    transactionHash: receipt["transactionHash"],
    from: receipt["from"],
    to: receipt["to"],
    cumulativeGasUsed: receipt["cumulativeGasUsed"],
    gasUsed: receipt["gasUsed"],
    effectiveGasPrice: "0x64",
    contractAddress: receipt["contractAddress"],
    logs: (receipt["logs"] as unknown[]).map((log) => logFields(asRecord(log), withTimes)),
    logsBloom: zeroBloom,
    status: receipt["status"],
    type: "0x0",
  };
}

export function logFields(log: Fields, withTime: boolean): Fields {
  return {
    address: log["address"],
    ...place(log),
    ...(withTime ? { blockTimestamp: log["blockTimestamp"] } : {}),
    transactionHash: log["transactionHash"],
    logIndex: log["logIndex"],
    removed: false,
    topics: log["topics"],
    data: log["data"],
  };
}

function place(item: Fields): Fields {
  const height = Number(asText(item["blockNumber"]));
  return {
    blockHash: blockHash(item["blockHash"], height),
    blockNumber: item["blockNumber"],
    transactionIndex: item["transactionIndex"],
  };
}
