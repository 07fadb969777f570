import type {
  Address,
  ChainClient,
  DroppedPart,
  Head,
  ListedTransfers,
  Receipt,
  TransferLog,
  TransferQuery,
} from "../client.ts";
import type { Fetch } from "./fetch.ts";
import {
  makeTransport,
  type Call,
  type Endpoint,
  type RpcResult,
  type Transport,
} from "./transport.ts";
import {
  MalformedAnswer,
  readable,
  readArray,
  readHash,
  readObject,
  readQuantity,
} from "./values.ts";
import type { Network } from "../networks.ts";
import { ProviderError } from "../providers/error.ts";
import { numbered } from "../transfer-identity.ts";
import {
  inChainOrder,
  readReceipt,
  readTransfers,
  transferTopic,
  type LogList,
  type NoteDropped,
} from "./transfer-log.ts";

export interface JsonRpcOptions {
  readonly network: Pick<Network, "id" | "finality">;
  readonly url: string;
  /**
   * The number of this provider among several of the same origin, from 1; for example, two accounts with one company.
   */
  readonly member?: number;
  /** Headers with secret values, which are sent to this provider only and never shown or logged. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetch?: Fetch;
  readonly timeoutMs?: number;
  readonly responseBytesMax?: number;
  readonly batchMax?: number;
  /** Aborts all calls in progress when the program stops. */
  readonly signal?: AbortSignal;
  /** Awaited before every request; throws ProviderError if none may be sent. */
  readonly beforeRequest?: () => Promise<void>;
}

/** The limit of java-tron; other nodes accept at least as many. */
const recipientsMax = 1_000;
/**
 * The most logs that nodes return. A node that truncates its list here, instead of returning an error, would hide the
 * rest.
 */
const logsMax = 10_000;
/** java-tron's responses have at most 25 MiB. */
const responseBytesMax = 32 * 1_024 * 1_024;
const timeoutMs = 10_000;
const batchMax = 100;
/**
 * After this many calls of `heads`, a node without the tag is asked for its final block again, because nodes get
 * upgraded.
 */
const finalityRetryLooks = 1_000;
const decimalsSelector = "0x313ce567";

/** Creates the client of a node of an EVM network, or of TRON, which offers the same JSON-RPC methods. */
export function createJsonRpcClient(options: JsonRpcOptions): ChainClient {
  const dropped: Partial<Record<DroppedPart, number>> = {};
  const note: NoteDropped = (part) => {
    dropped[part] = (dropped[part] ?? 0) + 1;
  };
  const transport = makeTransport(endpointOf(options), note);
  return {
    network: options.network.id,
    provider: transport.provider,
    heads: makeHeads(transport, options.network.finality),
    chainId: () =>
      transport.call({
        method: "eth_chainId",
        params: [],
        read: (result) => readQuantity(result, "the chain id"),
      }),
    transfers: (query) => findTransfers(transport, note, query),
    blockTransfers: (height, contracts) => readBlockTransfers(transport, note, height, contracts),
    async blocks(heights) {
      const outcomes = await transport.batch(heights.map((height) => blockCall(height)));
      return outcomes.map(valueOf);
    },
    receipt: (transactionHash) => transport.call(receiptCall(note, transactionHash)),
    async receipts(transactionHashes) {
      const outcomes = await transport.batch(
        transactionHashes.map((hash) => receiptCall(note, hash)),
      );
      return outcomes.map((outcome) => (outcome.ok ? outcome.value : outcome.error));
    },
    decimals: (contract) =>
      transport.call({
        method: "eth_call",
        params: [{ to: `0x${contract}`, data: decimalsSelector }, "latest"],
        read(result) {
          const decimals = Number(`0x${readHash(result, "the result of decimals()")}`);
          if (decimals > 255) throw new MalformedAnswer("a token has at most 255 decimals");
          return decimals;
        },
      }),
    dropped: () => ({ ...dropped }),
  };
}

function endpointOf(options: JsonRpcOptions): Endpoint {
  return {
    url: options.url,
    member: options.member ?? 1,
    headers: options.headers ?? {},
    fetch: options.fetch ?? fetch,
    timeoutMs: options.timeoutMs ?? timeoutMs,
    responseBytesMax: options.responseBytesMax ?? responseBytesMax,
    batchMax: options.batchMax ?? batchMax,
    signal: options.signal ?? null,
    beforeRequest: options.beforeRequest ?? null,
  };
}

function valueOf<T>(outcome: RpcResult<T>): T {
  if (outcome.ok) return outcome.value;
  throw outcome.error;
}

function hex(height: number): string {
  return `0x${height.toString(16)}`;
}

/** Reads a block by its height or tag; null if the node does not have it. */
function blockCall(block: number | "latest" | "finalized"): Call<Head | null> {
  return {
    method: "eth_getBlockByNumber",
    params: [typeof block === "number" ? hex(block) : block, false],
    read(result) {
      if (result === null) return null;
      const fields = readObject(result, "a block");
      const height = readQuantity(fields["number"], "a block's number");
      if (typeof block === "number" && height !== block) {
        throw new MalformedAnswer("the block has another height than requested");
      }
      return {
        height,
        hash: readHash(fields["hash"], "a block's hash"),
        time: readQuantity(fields["timestamp"], "a block's timestamp") * 1_000,
      };
    },
  };
}

/** Reads the receipt of a transaction; null if the node knows no block with it. */
function receiptCall(note: NoteDropped, transactionHash: string): Call<Receipt | null> {
  return {
    method: "eth_getTransactionReceipt",
    params: [`0x${transactionHash}`],
    read(result) {
      const receipt = readReceipt(result, note);
      if (receipt !== null && receipt.transactionHash !== transactionHash) {
        throw new MalformedAnswer("the receipt belongs to another transaction");
      }
      return receipt;
    },
  };
}

/** Reads the tip. Every node has one, so a missing tip is an error. */
const latestCall: Call<Head> = {
  ...blockCall("latest"),
  read(result) {
    const head = blockCall("latest").read(result);
    if (head === null) throw new MalformedAnswer("the node has no latest block");
    return head;
  },
};

/** Reads the tip and the final block. Remembers for a while that a node lacks the tag of the final block. */
function makeHeads(transport: Transport, finality: Network["finality"]): ChainClient["heads"] {
  let looksWithoutTag = finality.tag === null ? Infinity : 0;

  /** Returns the block at the height of the known final block; null if the node does not have it. */
  function knownOf(outcome: RpcResult<Head | null> | undefined): Head | null {
    if (outcome === undefined) return null;
    // Some nodes return an error instead of null for a height above their tip.
    return !outcome.ok && outcome.error.kind === "refused" ? null : valueOf(outcome);
  }

  async function belowTip(latest: Head): Promise<Head> {
    const height = Math.max(0, latest.height - finality.lagBlocks);
    const block = await transport.call(blockCall(height));
    if (block !== null) return block;
    throw missing(transport, `block ${String(height)} below its tip`);
  }

  return async (asked) => {
    const knownCalls = asked === undefined ? [] : [blockCall(asked.final.height)];
    if (looksWithoutTag > 0) {
      looksWithoutTag -= 1;
      const [tip, reported] = await transport.batch<Head | null>([latestCall, ...knownCalls]);
      const latest = tip === undefined ? null : valueOf(tip);
      if (latest === null) throw missing(transport, "its tip");
      return { latest, finalized: await belowTip(latest), known: knownOf(reported) };
    }
    const [tip, final, reported] = await transport.batch<Head | null>([
      latestCall,
      blockCall("finalized"),
      ...knownCalls,
    ]);
    const latest = tip === undefined ? null : valueOf(tip);
    if (latest === null || final === undefined) throw missing(transport, "its tip");
    if (!final.ok && final.error.kind === "rate_limited") throw final.error;
    if (!final.ok && final.error.kind === "refused") looksWithoutTag = finalityRetryLooks;
    const finalized = final.ok && final.value !== null ? final.value : await belowTip(latest);
    if (finalized.height <= latest.height) return { latest, finalized, known: knownOf(reported) };
    // Two nodes share this URL, and the one that returned the tip is behind.
    throw new ProviderError("its final block is above its tip", {
      kind: "malformed",
      provider: transport.provider,
    });
  };
}

function missing(transport: Transport, what: string): ProviderError {
  return new ProviderError(`it does not have ${what}`, {
    kind: "malformed",
    provider: transport.provider,
  });
}

async function findTransfers(
  transport: Transport,
  note: NoteDropped,
  query: TransferQuery,
): Promise<ListedTransfers> {
  // A node would treat an empty list of contracts as any contract.
  const topics = query.contracts.length === 0 ? [] : recipientTopics(query.recipients);
  const logCalls = topics.map((recipients) => logsCall(query, recipients, note));
  // The tip is read last, so that a reorganization during the batch becomes visible.
  const calls: Call<LogList | Head>[] = [...logCalls, latestCall];
  const answers = (await transport.batch(calls)).map(valueOf);
  const latest = answers.pop();
  if (latest === undefined || "transfers" in latest) throw missing(transport, "its tip");
  const lists = answers.filter((answer) => "transfers" in answer);
  const unreadable = lists.flatMap((list) => list.unreadable);
  return {
    logs: numbered(inChainOrder(lists.flatMap(({ transfers }) => transfers))),
    latest,
    ...(unreadable.length === 0 ? {} : { unreadable }),
  };
}

/** Encodes the recipients as topics and splits them by the limit of a call; null for a call without that filter. */
function recipientTopics(recipients: readonly Address[] | null): (readonly string[] | null)[] {
  if (recipients === null) return [null];
  const topics = [...new Set(recipients)].map((address) => `0x${address.padStart(64, "0")}`);
  const parts: string[][] = [];
  for (let start = 0; start < topics.length; start += recipientsMax) {
    parts.push(topics.slice(start, start + recipientsMax));
  }
  return parts;
}

function logsCall(
  query: TransferQuery,
  recipients: readonly string[] | null,
  note: NoteDropped,
): Call<LogList> {
  const contracts = new Set(query.contracts);
  const wanted = recipients === null ? null : new Set(recipients.map((topic) => topic.slice(26)));
  const matters = (contract: Address | null, to: Address | null): boolean =>
    (contract === null || contracts.has(contract)) &&
    (to === null || wanted === null || wanted.has(to));
  return {
    method: "eth_getLogs",
    params: [
      {
        fromBlock: hex(query.from),
        toBlock: hex(query.to),
        address: query.contracts.map((contract) => `0x${contract}`),
        topics: recipients === null ? [transferTopic] : [transferTopic, null, recipients],
      },
    ],
    read(result) {
      const { transfers, unreadable } = readTransfers(result, { note, to: query.to, matters });
      if (Array.isArray(result) && result.length >= logsMax && query.from < query.to) {
        throw new MalformedAnswer("the list of logs reached the limit of nodes", "range_too_large");
      }
      if (transfers.some(({ blockHeight: at }) => at < query.from || at > query.to)) {
        throw new MalformedAnswer("a log belongs to a block that was not requested");
      }
      return {
        transfers: transfers.filter(({ contract, to }) => matters(contract, to)),
        unreadable,
      };
    },
  };
}

/**
 * Reads the transfers of a block from its receipts. Returns null if the provider lacks the method, which TRON and older
 * nodes need not offer.
 */
async function readBlockTransfers(
  transport: Transport,
  note: NoteDropped,
  height: number,
  contracts: readonly Address[],
): Promise<TransferLog[] | null> {
  const wanted = new Set(contracts);
  try {
    return await transport.call({
      method: "eth_getBlockReceipts",
      params: [hex(height)],
      read(result) {
        const logs = readArray(result, "the receipts of a block").flatMap((value) => {
          const receipt = readable(() => readReceipt(value, note));
          if (receipt === null && value !== null) note("receipt");
          return receipt?.transfers ?? [];
        });
        if (logs.some(({ blockHeight }) => blockHeight !== height)) {
          throw new MalformedAnswer("a receipt belongs to a block that was not requested");
        }
        return inChainOrder(logs.filter(({ contract }) => wanted.has(contract)));
      },
    });
  } catch (error) {
    if (error instanceof ProviderError && error.kind === "refused") return null;
    throw error;
  }
}
