import { second, type Instant } from "../../src/kernel/clock.ts";
import type { Address, Head, TransferLog } from "../../src/platform/chain/client.ts";
import type { Fetch, FetchResponse } from "../../src/platform/chain/evm/transport.ts";
import { eventTopic } from "../support/chain/abi.ts";
import { asRecord, asText, hexNumber, JsonRpcRefusal } from "../support/chain/json-rpc.ts";
import type { Chance } from "./steps.ts";

/** The answers of a node: the truth with its lies, before it is written as JSON. */
export interface NodeAnswers {
  /** False: it does not answer. */
  isUp(): boolean;
  chainId(): number;
  latest(): Head;
  finalized(): Head;
  block(height: number): Head | null;
  /** Throws JsonRpcRefusal if it has no logs of these blocks. */
  logs(from: number, to: number): readonly TransferLog[];
  /** The logs of a block; null: it lacks eth_getBlockReceipts. */
  receiptsOfBlock(height: number): readonly TransferLog[] | null;
  receipt(
    transactionHash: string,
  ): { readonly block: Head; readonly logs: readonly TransferLog[] } | null;
  decimals(contract: Address): number;
  /** True: nobody can read the amounts in its logs. */
  garblesAmounts(): boolean;
}

/** The largest requests that a node answers, and the words with which it refuses larger ones. */
export interface NodeLimits {
  readonly calls: number;
  readonly blocks: number;
  readonly recipients: number;
  readonly contracts: number;
  readonly requestsPerSecond: number;
  /** The place of its words among those of each limit, modulo. */
  readonly words: number;
}

export const noLimits: NodeLimits = {
  calls: Infinity,
  blocks: Infinity,
  recipients: Infinity,
  contracts: Infinity,
  requestsPerSecond: Infinity,
  words: 0,
};

/** A third of the nodes have limits: one of each sort, or none of it. */
export function limitsOf(chance: Chance): NodeLimits {
  if (chance.below(3) > 0) return noLimits;
  return {
    calls: chance.pick([1, 2, 3, Infinity]),
    blocks: chance.pick([3, 7, Infinity, Infinity]),
    recipients: chance.pick([1, 2, 5, Infinity]),
    contracts: chance.pick([1, 2, Infinity, Infinity]),
    requestsPerSecond: chance.pick([5, 20, Infinity, Infinity]),
    words: chance.below(12),
  };
}

interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Request {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** The event of EIP-20. */
const transferTopic = eventTopic("Transfer(address,address,uint256)");
const errorOf = (code: number, message: string) => ({ code, message });
const whole = (status: number, code: number, message: string): Reply => ({
  status,
  body: { jsonrpc: "2.0", id: null, error: errorOf(code, message) },
});

/** The ways in which nodes refuse a request with too many calls. */
const batchRefusals: readonly ((requests: readonly Request[], most: number) => Reply | number)[] = [
  () => whole(200, -32_600, "batch too large"),
  () => whole(400, -32_600, "Batch requests are not supported"),
  () => ({ status: 413, body: "Payload Too Large" }),
  () => ({ status: 200, body: [{ jsonrpc: "2.0", id: null, error: errorOf(-32_000, "no") }] }),
  (requests) => ({
    status: 200,
    body: requests.map(({ id }) => ({ jsonrpc: "2.0", id, error: errorOf(-32_000, "denied") })),
  }),
  // It answers the first ones alone.
  (_requests, most) => most,
];

const rangeRefusals: readonly ((most: number) => JsonRpcRefusal)[] = [
  (most) => new JsonRpcRefusal(-32_602, `exceed max block range: ${String(most)}`),
  () => new JsonRpcRefusal(-32_005, "query returned more than 10000 results"),
  () => new JsonRpcRefusal(-32_602, "invalid params"),
  () => new JsonRpcRefusal(-32_000, "query timeout exceeded"),
];

const filterRefusals: readonly ((what: string) => JsonRpcRefusal)[] = [
  (what) => new JsonRpcRefusal(-32_602, `too many ${what}`),
  () => new JsonRpcRefusal(-32_602, "invalid params"),
  () => new JsonRpcRefusal(-32_000, "the filter criteria exceed the limit"),
];

const rateRefusals: readonly Reply[] = [
  { status: 429, body: "" },
  { status: 429, body: "slow down", headers: { "retry-after": "1" } },
  whole(200, -32_005, "daily request count exceeded, request rate limited"),
  { status: 200, body: { Error: "The key exceeds the frequency limit(5)" } },
];

function pickWords<T>(list: readonly T[], { words }: NodeLimits): T {
  return list[words % list.length] as T;
}

/**
 * A node of JSON-RPC. Those at odd places write fields as other software does: heights and times as JSON numbers, null
 * for no logs, a pending log among mined ones, and places of logs counted from the end.
 */
export function makeNode(options: {
  readonly place: number;
  readonly answers: NodeAnswers;
  readonly limits: NodeLimits;
  readonly now: () => Instant;
}): Fetch {
  const { answers, limits, now } = options;
  const isOdd = options.place % 2 === 1;
  const quantity = (value: number) => (isOdd ? value : hexNumber(value));
  let asked: Instant[] = [];

  const blockOf = (head: Head | null) =>
    head === null
      ? null
      : {
          number: quantity(head.height),
          hash: `0x${head.hash}`,
          timestamp: quantity(head.time / second),
        };

  function written(logs: readonly TransferLog[]): object[] {
    return logs.map((log, index) => ({
      address: `0x${log.contract}`,
      topics: [transferTopic, ...[log.from, log.to].map((one) => `0x${one.padStart(64, "0")}`)],
      data: answers.garblesAmounts() ? null : `0x${log.amount.toString(16).padStart(64, "0")}`,
      transactionHash: `0x${log.transactionHash}`,
      blockHash: `0x${log.blockHash}`,
      blockNumber: quantity(log.blockHeight),
      blockTimestamp: quantity((log.blockTime ?? 0) / second),
      logIndex: isOdd ? hexNumber(logs.length - index) : hexNumber(log.logIndex),
    }));
  }

  function getLogs(filter: Readonly<Record<string, unknown>>): unknown {
    const [from, to] = [filter["fromBlock"], filter["toBlock"]].map(Number) as [number, number];
    const contracts = filter["address"] as readonly string[];
    const [event, , topics] = filter["topics"] as readonly [string, null?, (readonly string[])?];
    if (event !== transferTopic) return [];
    if (to - from + 1 > limits.blocks) throw pickWords(rangeRefusals, limits)(limits.blocks);
    if (contracts.length > limits.contracts) throw pickWords(filterRefusals, limits)("addresses");
    if ((topics ?? []).length > limits.recipients)
      throw pickWords(filterRefusals, limits)("topics");
    const recipients = topics?.map((topic) => topic.slice(26));
    const logs = answers
      .logs(from, to)
      .filter(({ contract }) => contracts.includes(`0x${contract}`))
      .filter((log) => recipients?.includes(log.to) !== false);
    const [first] = written(logs);
    if (!isOdd) return written(logs);
    if (first === undefined) return null;
    return [{ ...first, blockNumber: null, blockHash: null }, ...written(logs)];
  }

  function receiptOf(
    transactionHash: string,
    block: Pick<Head, "height" | "hash">,
    logs: readonly TransferLog[],
  ) {
    return {
      transactionHash: `0x${transactionHash}`,
      blockNumber: quantity(block.height),
      blockHash: `0x${block.hash}`,
      status: quantity(1),
      logs: written(logs),
    };
  }

  function receiptsOfBlock(height: number): object[] {
    const logs = answers.receiptsOfBlock(height);
    if (logs === null) throw new JsonRpcRefusal(-32_601, "the method does not exist");
    const hashes = [...new Set(logs.map(({ transactionHash }) => transactionHash))];
    return hashes.map((hash) => {
      const its = logs.filter(({ transactionHash }) => transactionHash === hash);
      return receiptOf(hash, { height, hash: its[0]?.blockHash ?? "" }, its);
    });
  }

  function answer({ method, params: [first] }: Request): unknown {
    switch (method) {
      case "eth_chainId":
        return hexNumber(answers.chainId());
      case "eth_call":
        return `0x${answers
          .decimals(asText(asRecord(first)["to"]).slice(2))
          .toString(16)
          .padStart(64, "0")}`;
      case "eth_getBlockByNumber":
        if (first === "latest") return blockOf(answers.latest());
        if (first === "finalized") return blockOf(answers.finalized());
        return blockOf(answers.block(Number(first)));
      case "eth_getLogs":
        return getLogs(asRecord(first));
      case "eth_getBlockReceipts":
        return receiptsOfBlock(Number(first));
      case "eth_getTransactionReceipt": {
        const hash = asText(first).slice(2);
        const found = answers.receipt(hash);
        return found === null ? null : receiptOf(hash, found.block, found.logs);
      }
    }
    throw new JsonRpcRefusal(-32_601, `the method ${method} does not exist`);
  }

  function member(request: Request): object {
    const { id } = request;
    try {
      return { jsonrpc: "2.0", id, result: answer(request) };
    } catch (error) {
      if (!(error instanceof JsonRpcRefusal)) throw error;
      return { jsonrpc: "2.0", id, error: errorOf(error.code, error.message) };
    }
  }

  function reply(body: Request | readonly Request[]): Reply {
    asked = [...asked.filter((at) => now() - at < second), now()];
    if (asked.length > limits.requestsPerSecond) return pickWords(rateRefusals, limits);
    if (!isBatch(body)) return { status: 200, body: member(body) };
    if (body.length <= limits.calls) return { status: 200, body: body.map(member) };
    const refused = pickWords(batchRefusals, limits)(body, limits.calls);
    if (typeof refused !== "number") return refused;
    return { status: 200, body: body.slice(0, refused).map(member) };
  }

  return async (_url, init) => {
    await Promise.resolve();
    if (!answers.isUp()) {
      throw new TypeError("fetch failed", { cause: { code: "ECONNREFUSED" } });
    }
    const { status, body, headers } = reply(JSON.parse(init.body) as Request | Request[]);
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return answerOf(status, text, headers ?? {});
  };
}

function isBatch(body: Request | readonly Request[]): body is readonly Request[] {
  return Array.isArray(body);
}

function answerOf(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>>,
): FetchResponse {
  return {
    status,
    headers: { get: (name) => headers[name] ?? null },
    body: (async function* () {
      await Promise.resolve();
      yield Buffer.from(text);
    })(),
  };
}
