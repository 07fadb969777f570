import { setTimeout as sleep } from "node:timers/promises";
import {
  numbered,
  type Address,
  type ChainClient,
  type DroppedPart,
  type Head,
  type ListedTransfers,
  type Receipt,
  type TransferLog,
  type TransferQuery,
} from "../client.ts";
import type { PooledProvider } from "../providers/member.ts";
import {
  makeTransport,
  type Call,
  type Endpoint,
  type Fetch,
  type RpcResult,
  type Transport,
} from "./transport.ts";
import {
  MalformedReply,
  readable,
  readArray,
  readHash,
  readObject,
  readQuantity,
} from "./values.ts";
import type { Network, NetworkAccess } from "../networks.ts";
import { systemClock } from "../../../kernel/clock.ts";
import {
  defaultRequestsPerSecond,
  makeBudget,
  makeProviderLimits,
  type ProviderLimits,
} from "../providers/limits.ts";
import { ProviderError } from "../providers/error.ts";
import {
  inChainOrder,
  readReceipt,
  readTransfers,
  transferTopic,
  type LogList,
  type NoteDropped,
} from "./transfer-log.ts";

export interface JsonRpcOptions {
  readonly network: Pick<Network, "id" | "finality" | "maxLogRange" | "tokens">;
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
  /** The limits of the provider, as far as they are known; filled in from its refusals. */
  readonly limits?: ProviderLimits;
  /** Aborts all calls in progress when the program stops. */
  readonly signal?: AbortSignal;
  /** Awaited before every request; throws ProviderError if none may be sent. */
  readonly beforeRequest?: () => Promise<void>;
}

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
const finalityRetryReads = 1_000;
const decimalsSelector = "0x313ce567";

/** Creates the client of a node of an EVM network, or of TRON, which offers the same JSON-RPC methods. */
export function createJsonRpcClient(options: JsonRpcOptions): ChainClient {
  const dropped: Partial<Record<DroppedPart, number>> = {};
  const note: NoteDropped = (part) => {
    dropped[part] = (dropped[part] ?? 0) + 1;
  };
  const endpoint = endpointOf(options);
  const transport = makeTransport(endpoint, note);
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
    transfers: (query) => findTransfers(transport, endpoint.limits, note, query),
    blockTransfers: (height, contracts) => readBlockTransfers(transport, note, height, contracts),
    async blocks(heights) {
      const outcomes = await transport.batch(heights.map((height) => blockCall(height)));
      const isOdd = outcomes.map((outcome) => !outcome.ok && outcome.error.kind === "malformed");
      // Without a single readable block, the provider is at fault.
      if (isOdd.every((odd) => odd)) return outcomes.map(valueOf);
      return outcomes.map((outcome, index) => {
        if (isOdd[index] !== true) return valueOf(outcome);
        note("block");
        return null;
      });
    },
    receipt: (transactionHash) => transport.call(receiptCall(note, transactionHash)),
    async receipts(transactionHashes) {
      const outcomes = await transport.batch(
        transactionHashes.map((hash) => receiptCall(note, hash)),
      );
      return outcomes.map((outcome) => (outcome.ok ? outcome.value : outcome.error));
    },
    transfersIn: (blockHash, contracts) =>
      transport.call(blockLogsCall(blockHash, contracts, note)),
    decimals: (contract) =>
      transport.call({
        method: "eth_call",
        params: [{ to: `0x${contract}`, data: decimalsSelector }, "latest"],
        read(result) {
          const decimals = Number(`0x${readHash(result, "the result of decimals()")}`);
          if (decimals > 255) throw new MalformedReply("a token has at most 255 decimals");
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
    limits: options.limits ?? limitsOf(options.network),
    signal: options.signal ?? null,
    beforeRequest: options.beforeRequest ?? null,
  };
}

function limitsOf(network: JsonRpcOptions["network"]): ProviderLimits {
  const requestsPerSecond = defaultRequestsPerSecond;
  return makeProviderLimits({ clock: systemClock, network, batchMax, requestsPerSecond });
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
        throw new MalformedReply("the block has another height than requested");
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
        throw new MalformedReply("the receipt belongs to another transaction");
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
    if (head === null) throw new MalformedReply("the node has no latest block");
    return head;
  },
};

/** Reads the tip and the final block. Remembers for a while that a node lacks the tag of the final block. */
function makeHeads(transport: Transport, finality: Network["finality"]): ChainClient["heads"] {
  let readsWithoutTag = finality.tag === null ? Infinity : 0;

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
    if (readsWithoutTag > 0) {
      readsWithoutTag -= 1;
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
    if (!final.ok && final.error.kind === "refused") readsWithoutTag = finalityRetryReads;
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

/** Reads the transfers, in as many calls as the provider's limits on filters demand. */
async function findTransfers(
  transport: Transport,
  limits: ProviderLimits,
  note: NoteDropped,
  query: TransferQuery,
): Promise<ListedTransfers> {
  const span = query.to - query.from + 1;
  const blocksMax = limits.blocks.current();
  if (span > blocksMax) {
    const message = `it is asked for the logs of at most ${String(blocksMax)} blocks at once`;
    const { provider } = transport;
    throw new ProviderError(message, { kind: "range_too_large", provider, isUnasked: true });
  }
  for (;;) {
    const parts = partsOf(query, limits);
    // The tip is read last, so that a reorganization during the batch becomes visible.
    const calls: Call<LogList | Head>[] = [
      ...parts.map((part) => logsCall(part, note)),
      latestCall,
    ];
    try {
      const replies = (await transport.batch(calls)).map(valueOf);
      const latest = replies.pop();
      if (latest === undefined || "transfers" in latest) throw missing(transport, "its tip");
      if (parts[0] !== undefined) for (const part of limitedParts) accept(limits, parts[0], part);
      const lists = replies.filter((reply) => "transfers" in reply);
      const unreadable = lists.flatMap((list) => list.unreadable);
      return {
        logs: numbered(inChainOrder(lists.flatMap(({ transfers }) => transfers))),
        latest,
        ...(unreadable.length === 0 ? {} : { unreadable }),
      };
    } catch (error) {
      const isFilter = await isFilterRefused(transport, limits, parts[0] ?? query, error);
      if (!isFilter) throw error;
    }
  }
}

/** The parts of a query whose size a provider may limit, the one that it most likely limits first. */
const limitedParts = ["blocks", "recipients", "contracts"] as const;
type LimitedPart = (typeof limitedParts)[number];

function sizeOf({ from, to, recipients, contracts }: TransferQuery, part: LimitedPart): number {
  if (part === "blocks") return to - from + 1;
  return part === "recipients" ? (recipients?.length ?? 1) : contracts.length;
}

function accept(limits: ProviderLimits, query: TransferQuery, part: LimitedPart): void {
  limits[part].accepted(sizeOf(query, part));
}

/** Splits a query by the provider's limits on contracts and recipients; the first part is the largest. */
function partsOf(query: TransferQuery, limits: ProviderLimits): TransferQuery[] {
  // A node would treat an empty list of contracts as any contract.
  const contracts = chunksOf(query.contracts, limits.contracts.current());
  const { recipients: asked } = query;
  const recipients =
    asked === null ? [null] : chunksOf([...new Set(asked)], limits.recipients.current());
  return contracts.flatMap((some) =>
    recipients.map((among) => ({ ...query, contracts: some, recipients: among })),
  );
}

function chunksOf<T>(items: readonly T[], size: number): T[][] {
  const chunks: T[][] = [];
  for (let start = 0; start < items.length; start += size) {
    chunks.push(items.slice(start, start + size));
  }
  return chunks;
}

/**
 * Learns from the failure of a query which of its parts is too large. Returns true if it is its filter, so that it can
 * be repeated with shorter ones. Throws ProviderError (`range_too_large`) if it must be repeated for fewer blocks.
 */
async function isFilterRefused(
  transport: Transport,
  limits: ProviderLimits,
  query: TransferQuery,
  error: unknown,
): Promise<boolean> {
  if (!(error instanceof ProviderError)) return false;
  const { hint, message } = error;
  const large = limitedParts.filter((part) => sizeOf(query, part) > 1);
  const [first] = large;
  if (first === undefined || hint === "none") return false;
  if (hint === "wait") {
    limits[first].uncertain(sizeOf(query, first), message);
    return false;
  }
  const suspects = hint === "filter" ? large.filter((part) => part !== "blocks") : large;
  const refused =
    hint === "blocks" ? [first] : await partsRefused(transport, query, { large, suspects });
  for (const part of refused) limits[part].refused(sizeOf(query, part), message);
  if (!refused.includes("blocks")) return refused.length > 0;
  if (error.kind === "range_too_large") throw error;
  const { provider } = transport;
  throw new ProviderError(`it refuses the logs of ${String(sizeOf(query, "blocks"))} blocks`, {
    kind: "range_too_large",
    provider,
  });
}

/**
 * Finds out which of the suspected parts of a refused query are too large: those without which the query works, however
 * large the others are. None if the smallest query fails too, or the whole one works now: its size is not the reason.
 */
async function partsRefused(
  transport: Transport,
  query: TransferQuery,
  {
    large,
    suspects,
  }: { readonly large: readonly LimitedPart[]; readonly suspects: readonly LimitedPart[] },
): Promise<readonly LimitedPart[]> {
  async function works(parts: readonly LimitedPart[] = []): Promise<boolean> {
    try {
      await transport.call(logsCall(parts.reduce(leastOf, query), () => undefined));
      return true;
    } catch (error) {
      if (error instanceof ProviderError) return false;
      throw error;
    }
  }
  if (suspects.length === 0 || !(await works(large)) || (await works())) return [];
  const refused: LimitedPart[] = [];
  for (const part of suspects) {
    if (!(await works(large.filter((other) => other !== part)))) refused.push(part);
  }
  return refused.length > 0 ? refused : suspects.slice(0, 1);
}

/** Returns the query with the smallest size of a part. */
function leastOf(query: TransferQuery, part: LimitedPart): TransferQuery {
  if (part === "blocks") return { ...query, to: query.from };
  if (part === "contracts") return { ...query, contracts: query.contracts.slice(0, 1) };
  return { ...query, recipients: query.recipients?.slice(0, 1) ?? null };
}

function logsCall(query: TransferQuery, note: NoteDropped): Call<LogList> {
  const contracts = new Set(query.contracts);
  const wanted = query.recipients === null ? null : new Set(query.recipients);
  const topics = query.recipients?.map((address) => `0x${address.padStart(64, "0")}`) ?? null;
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
        topics: topics === null ? [transferTopic] : [transferTopic, null, topics],
      },
    ],
    read(result) {
      const { transfers, unreadable } = readTransfers(result, { note, range: query, matters });
      if (Array.isArray(result) && result.length >= logsMax && query.from < query.to) {
        throw new MalformedReply("the list of logs reached the limit of nodes", "range_too_large");
      }
      return {
        transfers: transfers.filter(({ contract, to }) => matters(contract, to)),
        unreadable,
      };
    },
  };
}

/** Reads the logs of the block with this hash. */
function blockLogsCall(
  blockHash: string,
  contracts: readonly Address[],
  note: NoteDropped,
): Call<Omit<ListedTransfers, "latest">> {
  const wanted = new Set(contracts);
  const address = contracts.map((contract) => `0x${contract}`);
  return {
    method: "eth_getLogs",
    params: [{ blockHash: `0x${blockHash}`, address, topics: [transferTopic] }],
    read(result) {
      const matters = (contract: string | null) => contract === null || wanted.has(contract);
      const { transfers, unreadable } = readTransfers(result, { note, matters });
      if (transfers.some((log) => log.blockHash !== blockHash)) {
        throw new MalformedReply("a log belongs to a block that was not requested");
      }
      const own = transfers.filter(({ contract }) => wanted.has(contract));
      return { logs: numbered(inChainOrder(own)), unreadable };
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
          throw new MalformedReply("a receipt belongs to a block that was not requested");
        }
        return inChainOrder(logs.filter(({ contract }) => wanted.has(contract)));
      },
    });
  } catch (error) {
    if (error instanceof ProviderError && error.kind === "refused") return null;
    throw error;
  }
}

/** Creates a JSON-RPC client with its budget of requests for each endpoint, in the same order. */
export function connectJsonRpc(
  network: Network,
  { endpoints, clock, fetch, stopping }: NetworkAccess,
): PooledProvider[] {
  const origins = endpoints.map(({ url }) => new URL(url).origin);
  return endpoints.map(({ url, headers, batchMax, ...rates }, index) => {
    const provider = new URL(url).origin;
    const member = origins.slice(0, index + 1).filter((each) => each === provider).length;
    const { requestsPerSecond } = rates;
    const limits = makeProviderLimits({ clock, network, batchMax, requestsPerSecond });
    const budget = makeBudget({
      limits: rates,
      tolerated: () => limits.requestsPerSecond.current(),
      clock,
      provider,
      delay: (milliseconds) =>
        // On shutdown the wait ends early; the request itself is then refused.
        sleep(milliseconds, undefined, { signal: stopping }).catch(() => undefined),
    });
    const client = createJsonRpcClient({
      network,
      url,
      member,
      headers,
      limits,
      fetch,
      signal: stopping,
      beforeRequest: () => budget.take(),
    });
    return { client, budget, limits };
  });
}
