import type { Anvil } from "./anvil.ts";
import { asRecord, asText, hexNumber, JsonRpcRefusal } from "./json-rpc.ts";
import { startRpcFront, type RpcFront } from "./rpc-front.ts";
import {
  checkedAddresses,
  checkedHash,
  checkedTopics,
  defaultLimits,
  evmAddress,
  invalid,
  isHash,
  refusal,
  type TronLimits,
} from "./tron-parameters.ts";
import {
  blockFields,
  logFields,
  plainHash,
  receiptFields,
  transactionFields,
} from "./tron-shapes.ts";

/** The faults of a TRON node. A test sets the fields; `heal` resets them. */
export interface TronState {
  /** True if the log index is missing: every filtered eth_getLogs is silently empty. */
  bloomless: boolean;
  /** The number of blocks below the tip that the node knows. */
  lagBlocks: number;
  /** The height above which the node knows nothing; null: it follows the chain. */
  stuckAt: number | null;
  /** True for an older node, which does not support the tag `finalized`. */
  withoutFinalized: boolean;
  /** True for an older node, whose logs have no blockTimestamp. */
  withoutLogTimes: boolean;
}

export interface TronFront extends RpcFront {
  readonly state: TronState;
  readonly limits: TronLimits;
}

/** A block is solidified when 19 of the 27 block producers have built on it. */
const solidificationBlocks = 19;
const soundState: TronState = {
  bloomless: false,
  lagBlocks: 0,
  stuckAt: null,
  withoutFinalized: false,
  withoutLogTimes: false,
};
/** Methods that java-tron knows and refuses. */
const refusedMethods = new Set([
  "eth_sendRawTransaction",
  "eth_sendTransaction",
  "eth_sign",
  "eth_signTransaction",
  "eth_getTransactionCount",
  "eth_submitWork",
  "eth_submitHashrate",
  "eth_getCompilers",
  "parity_nextNonce",
]);

/**
 * Answers like the JSON-RPC of a java-tron node, based on an EVM node's chain: with hashes that begin with the height,
 * its tags, limits, codes and messages, and its empty fields. Energy, bandwidth and native TRX are not simulated.
 */
export async function startTronFront(
  anvil: Anvil,
  limits: Partial<TronLimits> = {},
): Promise<TronFront> {
  const state = { ...soundState };
  const own = { ...defaultLimits, ...limits };
  const front = await startRpcFront({
    path: "/jsonrpc",
    batchLimit: () => own.batch,
    requestBytesLimit: 4_194_304,
    responseBytesLimit: 26_214_400,
    open: () => {
      const view = openView(anvil, state, own);
      return async ({ method, params }) => {
        const answer = Object.hasOwn(methods, method) ? methods[method] : undefined;
        if (answer !== undefined) return answer(view, params);
        if (refusedMethods.has(method)) {
          throw refusal(-32601, `the method ${method} does not exist/is not available`);
        }
        throw new JsonRpcRefusal(-32601, "method not found");
      };
    },
  });
  return {
    ...front,
    state,
    limits: own,
    heal() {
      front.heal();
      Object.assign(state, soundState);
    },
  };
}

/** The chain as the node sees it during one HTTP request. */
interface View {
  readonly anvil: Anvil;
  readonly state: TronState;
  readonly limits: TronLimits;
  tip(): Promise<number>;
}

function openView(anvil: Anvil, state: TronState, limits: TronLimits): View {
  let tip: Promise<number> | undefined;
  return {
    anvil,
    state,
    limits,
    tip() {
      tip ??= anvil
        .height()
        .then((height) => Math.max(0, Math.min(height - state.lagBlocks, state.stuckAt ?? height)));
      return tip;
    },
  };
}

type Method = (view: View, params: readonly unknown[]) => Promise<unknown>;

const methods: Readonly<Record<string, Method>> = {
  web3_clientVersion: () => Promise.resolve("TRON/v4.8.1/Linux/Java1.8/GreatVoyage-v4.8.1"),
  eth_chainId: ({ anvil }) => anvil.rpc("eth_chainId"),
  net_version: ({ anvil }) => anvil.rpc("eth_chainId"),
  net_listening: () => Promise.resolve(true),
  eth_syncing: () => Promise.resolve(false),
  eth_accounts: () => Promise.resolve([]),
  eth_gasPrice: () => Promise.resolve("0x64"),
  eth_blockNumber: async (view) => hexNumber(await view.tip()),
  eth_getBlockByNumber: async (view, [at, full]) =>
    readBlock(view, await heightOf(view, at), full === true),
  eth_getBlockByHash: async (view, [hash, full]) => {
    const height = await heightOfHash(view, hash);
    return height === null ? null : readBlock(view, height, full === true);
  },
  eth_getBlockReceipts: async (view, [at]) => {
    const height = isHash(at) ? await heightOfHash(view, at) : await heightOf(view, at);
    if (height === null || height === 0 || height > (await view.tip())) return null;
    const receipts = (await view.anvil.rpc("eth_getBlockReceipts", [
      hexNumber(height),
    ])) as unknown[];
    return receipts.map((receipt) => receiptFields(asRecord(receipt), !view.state.withoutLogTimes));
  },
  eth_getTransactionByHash: async (view, [hash]) => {
    const found = await view.anvil.rpc("eth_getTransactionByHash", [plainHash(checkedHash(hash))]);
    return (await isVisible(view, found)) ? transactionFields(asRecord(found)) : null;
  },
  eth_getTransactionReceipt: async (view, [hash]) => {
    const found = await view.anvil.rpc("eth_getTransactionReceipt", [plainHash(checkedHash(hash))]);
    return (await isVisible(view, found))
      ? receiptFields(asRecord(found), !view.state.withoutLogTimes)
      : null;
  },
  eth_getLogs: (view, [filter]) => readLogs(view, asRecord(filter)),
  eth_call: (view, [request, at]) => callContract(view, asRecord(request), at),
  eth_getCode: (view, [address, at]) => {
    onlyLatest(at);
    return view.anvil.rpc("eth_getCode", [evmAddress(address, "invalid address"), "latest"]);
  },
};

async function heightOf(view: View, at: unknown): Promise<number> {
  if (at === "latest") return view.tip();
  if (at === "earliest") return 0;
  if (at === "finalized" && !view.state.withoutFinalized) {
    return Math.max(0, (await view.tip()) - solidificationBlocks);
  }
  if (at === "pending" || at === "safe") throw invalid(`TAG ${at} not supported`);
  if (typeof at !== "string" || !/^0x[0-9a-fA-F]+$/.test(at)) throw invalid("invalid block number");
  return Number(at);
}

/** Returns the height of the block that has this hash now; null if none has. */
async function heightOfHash(view: View, value: unknown): Promise<number | null> {
  const hash = plainHash(checkedHash(value));
  const height = Number(hash.slice(0, 18));
  const block = Number.isSafeInteger(height) ? await readBlock(view, height, false) : null;
  return block !== null && block["hash"] === hash ? height : null;
}

async function readBlock(
  view: View,
  height: number,
  full: boolean,
): Promise<Readonly<Record<string, unknown>> | null> {
  if (height > (await view.tip())) return null;
  const block = await view.anvil.rpc("eth_getBlockByNumber", [hexNumber(height), full]);
  return block === null ? null : blockFields(asRecord(block));
}

async function isVisible(view: View, found: unknown): Promise<boolean> {
  if (found === null) return false;
  const at = asRecord(found)["blockNumber"];
  return typeof at === "string" && Number(at) <= (await view.tip());
}

async function readLogs(view: View, filter: Readonly<Record<string, unknown>>): Promise<unknown> {
  const { limits, state } = view;
  const addresses = checkedAddresses(filter["address"], limits);
  const topics = checkedTopics(filter["topics"], limits);
  const tip = await view.tip();
  const { from, to } = await checkedRange(view, filter, tip);
  const isFiltered = addresses.length > 0 || topics.some((topic) => topic !== null);
  if (from > tip || (state.bloomless && isFiltered)) return [];
  const query = {
    fromBlock: hexNumber(from),
    toBlock: hexNumber(Math.min(to, tip)),
    topics,
    ...(addresses.length > 0 ? { address: addresses } : {}),
  };
  const logs = (await view.anvil.rpc("eth_getLogs", [query])) as unknown[];
  if (logs.length > limits.results) {
    throw refusal(-32005, `query returned more than ${String(limits.results)} results`);
  }
  return logs.map((log) => logFields(asRecord(log), !state.withoutLogTimes));
}

async function checkedRange(
  view: View,
  filter: Readonly<Record<string, unknown>>,
  tip: number,
): Promise<{ from: number; to: number }> {
  const { fromBlock = null, toBlock = null, blockHash = null } = filter;
  if (blockHash !== null) {
    if (fromBlock !== null || toBlock !== null) {
      throw invalid("cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other");
    }
    const height = await heightOfHash(view, blockHash);
    if (height === null) throw invalid("invalid blockHash");
    return { from: height, to: height };
  }
  // An upper bound that is absent or `latest` is open.
  const to = toBlock === null || toBlock === "latest" ? Infinity : await heightOf(view, toBlock);
  const from = fromBlock === null ? Math.min(to, tip) : await heightOf(view, fromBlock);
  if (from > to) throw invalid("please verify: fromBlock <= toBlock");
  if (Math.min(to, tip) - from > view.limits.blockRange) {
    throw invalid(`exceed max block range: ${String(view.limits.blockRange)}`);
  }
  return { from, to };
}

function onlyLatest(at: unknown): void {
  if (at === "latest") return;
  if (typeof at === "string" && /^(earliest|pending|finalized|safe)$/.test(at)) {
    throw invalid("TAG [earliest | pending | finalized | safe] not supported");
  }
  throw invalid("QUANTITY not supported, just support TAG as latest");
}

async function callContract(
  view: View,
  request: Readonly<Record<string, unknown>>,
  at: unknown,
): Promise<unknown> {
  if (typeof at !== "string") throw refusal(-32600, "invalid json request");
  onlyLatest(at);
  const to = evmAddress(request["to"], "invalid address");
  if ((await view.anvil.rpc("eth_getCode", [to, "latest"])) === "0x") {
    throw refusal(-32600, "Smart contract is not exist.");
  }
  try {
    const data = asText(request["input"] ?? request["data"]);
    return await view.anvil.rpc("eth_call", [{ to, data }, "latest"]);
  } catch (error) {
    if (!(error instanceof JsonRpcRefusal)) throw error;
    throw new JsonRpcRefusal(-32000, "REVERT opcode executed", error.data ?? "{}");
  }
}
