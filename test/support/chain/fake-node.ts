import { hexNumber, JsonRpcRefusal, type JsonRpcCall } from "./json-rpc.ts";
import { startRpcFront, type RpcFront } from "./rpc-front.ts";

/** A transfer on the fake chain. */
export interface FakeTransfer {
  /** 40 hexadecimal digits. */
  readonly to: string;
  /** 40 hexadecimal digits; by default a payer. */
  readonly from?: string;
  readonly amount: bigint;
  /** 64 hexadecimal digits; by default derived from the block and the index. */
  readonly transactionHash?: string;
}

/** A chain of any length at no cost: blocks are computed on request. */
export interface FakeChain {
  readonly chainId: number;
  readonly contract: string;
  height(): number;
  /** Adds blocks; the first of them contains these transfers. */
  mine(blocks?: number, transfers?: readonly FakeTransfer[]): void;
  /** Adds transfers to an existing block, before any request for it. */
  place(height: number, transfers: readonly FakeTransfer[]): void;
  /** Replaces the newest blocks by the same number of new ones, without their transfers. */
  reorg(depth: number): void;
  block(height: number): { readonly hash: string; readonly time: number };
  transfers(height: number): readonly (FakeTransfer & { readonly transactionHash: string })[];
  heights(): readonly number[];
}

/** The faults of one node of a chain. A test sets the fields. */
export interface NodeView {
  /** The number of newest blocks that it lacks. */
  lag: number;
  /** The number of nonexistent blocks that it reports above the tip, the newest with the current time. */
  ahead: number;
  /** The offset of all of its block and log times, in milliseconds. */
  timeShift: number;
  /** The offset of the time of its newest block only, in milliseconds. */
  tipTimeShift: number;
  /** The offset of the times of its logs only, in milliseconds. */
  logTimeShift: number;
  /** True if it reports its newest block as final. */
  isAllFinal: boolean;
  /** True if it does not support the tag of the final block. */
  withoutFinal: boolean;
  chainId: number;
  decimals: number;
  /** The maximum number of blocks per eth_getLogs. */
  rangeMax: number;
  /** True if every eth_getLogs is empty, as from a node without its log index. */
  hidesLogs: boolean;
  /** Transaction hashes, in lowercase hex without 0x, that its logs omit. */
  hidden: ReadonlySet<string>;
  /** Transaction hashes that it does not know at all, not even by receipt. */
  denied: ReadonlySet<string>;
  /** The number of times that every log is listed. */
  repeats: number;
  withoutBlockReceipts: boolean;
  /** Transfers that exist only in its answers, by height. */
  lies: Map<number, FakeTransfer>;
  /** The ranges of which it has no logs any more: a request that touches one is refused in these words. */
  pruned: readonly { readonly from: number; readonly to: number; readonly words: string }[];
  /** True if it lacks the blocks of the pruned ranges too. */
  prunesBlocks: boolean;
  /** Transaction hashes of which it has no receipts, although it has their logs. */
  withoutReceipts: ReadonlySet<string>;
}

export interface FakeNode extends RpcFront {
  readonly view: NodeView;
}

const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const payer = "ab".repeat(20);
const word = (text: string) => `0x${text.padStart(64, "0")}`;
const number = (value: unknown) => Number(value);

export function makeFakeChain(options: {
  readonly chainId: number;
  /** 40 hexadecimal digits. */
  readonly contract: string;
  /** The time of block 0, in milliseconds. */
  readonly startAt: number;
  readonly blockMs: number;
}): FakeChain {
  const { chainId, contract, startAt, blockMs } = options;
  let height = 0;
  /** The heights of forks, latest last: from there on, blocks have other hashes. */
  let forks: number[] = [];
  const placed = new Map<number, readonly (FakeTransfer & { transactionHash: string })[]>();

  function place(at: number, transfers: readonly FakeTransfer[]): void {
    const before = placed.get(at) ?? [];
    const named = transfers.map((transfer, index) => {
      const made = `${at.toString(16)}f${String(before.length + index)}e${String(forks.length)}`;
      return { ...transfer, transactionHash: transfer.transactionHash ?? made.padStart(64, "0") };
    });
    placed.set(at, [...before, ...named]);
  }

  return {
    chainId,
    contract,
    place,
    height: () => height,
    mine(blocks = 1, transfers = []) {
      if (transfers.length > 0) place(height + 1, transfers);
      height += blocks;
    },
    reorg(depth) {
      const first = height - depth + 1;
      forks = [...forks, first];
      for (const at of placed.keys()) if (at >= first) placed.delete(at);
    },
    block(at) {
      const fork = forks.reduce((last, first, place) => (at >= first ? place + 1 : last), 0);
      const hash = `${fork.toString(16).padStart(4, "0")}b${at.toString(16).padStart(12, "0")}`;
      return { hash: hash.padStart(64, "c"), time: startAt + at * blockMs };
    },
    transfers: (at) => placed.get(at) ?? [],
    heights: () => [...placed.keys()],
  };
}

/** Starts a node of the chain on a free port: its faults are those of RpcFront and of its `view`. */
export async function startFakeNode(
  chain: FakeChain,
  given: Partial<NodeView> = {},
  finalityLag = 10,
): Promise<FakeNode> {
  const view: NodeView = {
    lag: 0,
    ahead: 0,
    timeShift: 0,
    tipTimeShift: 0,
    logTimeShift: 0,
    isAllFinal: false,
    withoutFinal: false,
    chainId: chain.chainId,
    decimals: 6,
    rangeMax: Infinity,
    hidesLogs: false,
    hidden: new Set(),
    denied: new Set(),
    repeats: 1,
    withoutBlockReceipts: false,
    lies: new Map(),
    pruned: [],
    prunesBlocks: false,
    withoutReceipts: new Set(),
    ...given,
  };
  const tip = () => Math.max(0, chain.height() - view.lag + view.ahead);
  const finalHeight = () => Math.max(0, tip() - (view.isAllFinal ? 0 : finalityLag));
  const transfersAt = (height: number) => {
    const lie = view.lies.get(height);
    const told =
      lie === undefined
        ? []
        : [{ ...lie, transactionHash: lie.transactionHash ?? "1e".repeat(32) }];
    return [...chain.transfers(height), ...told].filter(
      ({ transactionHash }) => !view.denied.has(transactionHash),
    );
  };

  function blockOf(height: number): object | null {
    if (height > tip()) return null;
    if (view.prunesBlocks && prunedIn(height, height) !== undefined) return null;
    const { hash } = chain.block(height);
    const shift = view.timeShift + (height === tip() ? view.tipTimeShift : 0);
    const time = chain.block(Math.min(height, chain.height())).time + shift;
    return { number: hexNumber(height), hash: `0x${hash}`, timestamp: hexNumber(time / 1_000) };
  }

  function logsOf(height: number): { readonly hash: string; readonly log: object }[] {
    const { hash, time } = chain.block(height);
    return transfersAt(height).map(({ transactionHash, to, from = payer, amount }, place) => ({
      hash: transactionHash,
      log: {
        address: `0x${chain.contract}`,
        topics: [transferTopic, word(from), word(to)],
        data: word(amount.toString(16)),
        blockNumber: hexNumber(height),
        blockHash: `0x${hash}`,
        blockTimestamp: hexNumber((time + view.timeShift + view.logTimeShift) / 1_000),
        transactionHash: `0x${transactionHash}`,
        logIndex: hexNumber(place),
        removed: false,
      },
    }));
  }

  function prunedIn(from: number, to: number) {
    return view.pruned.find((range) => range.from <= to && range.to >= from);
  }

  function getLogs(filter: Record<string, unknown>): object[] {
    const { blockHash } = filter;
    const named = [...chain.heights(), ...view.lies.keys()].find(
      (height) => `0x${chain.block(height).hash}` === blockHash,
    );
    if (blockHash !== undefined && named === undefined) return [];
    const from = named ?? number(filter["fromBlock"]);
    const to = named ?? number(filter["toBlock"]);
    const gone = prunedIn(from, to);
    if (gone !== undefined) throw new JsonRpcRefusal(4_444, gone.words);
    if (to - from + 1 > view.rangeMax) {
      throw new JsonRpcRefusal(-32_602, `exceed max block range: ${String(view.rangeMax)}`);
    }
    if (view.hidesLogs) return [];
    const [, , recipients] = filter["topics"] as [string, null?, string[]?];
    const wanted = recipients === undefined ? null : new Set(recipients);
    const heights = [...new Set([...chain.heights(), ...view.lies.keys()])]
      .filter((height) => height >= from && height <= Math.min(to, tip()))
      .sort((one, other) => one - other);
    const logs = heights
      .flatMap(logsOf)
      .filter(({ hash }) => !view.hidden.has(hash))
      .map(({ log }) => log as { readonly topics: readonly string[] })
      .filter(({ topics: [, , to20 = ""] }) => wanted === null || wanted.has(to20));
    return Array.from({ length: view.repeats }, () => logs).flat();
  }

  function receiptsOf(height: number): object[] {
    const { hash } = chain.block(height);
    return logsOf(height).map(({ hash: transactionHash, log }) => ({
      transactionHash: `0x${transactionHash}`,
      blockNumber: hexNumber(height),
      blockHash: `0x${hash}`,
      status: "0x1",
      logs: [log],
    }));
  }

  function receiptOf(transactionHash: string): object | null {
    if (view.withoutReceipts.has(transactionHash.slice(2))) return null;
    const height = [...new Set([...chain.heights(), ...view.lies.keys()])].find(
      (at) =>
        at <= tip() &&
        transfersAt(at).some((transfer) => `0x${transfer.transactionHash}` === transactionHash),
    );
    if (height === undefined) return null;
    const logs = logsOf(height).filter(({ hash }) => `0x${hash}` === transactionHash);
    const { hash } = chain.block(height);
    return {
      transactionHash,
      blockNumber: hexNumber(height),
      blockHash: `0x${hash}`,
      status: "0x1",
      logs: logs.map(({ log }) => log),
    };
  }

  function answer({ method, params: [first] }: JsonRpcCall): unknown {
    switch (method) {
      case "eth_chainId":
        return hexNumber(view.chainId);
      case "eth_call":
        return word(view.decimals.toString(16));
      case "eth_getBlockByNumber":
        if (first === "latest") return blockOf(tip());
        if (first === "finalized" && view.withoutFinal) break;
        if (first === "finalized") return blockOf(finalHeight());
        return blockOf(number(first));
      case "eth_getLogs":
        return getLogs(first as Record<string, unknown>);
      case "eth_getTransactionReceipt":
        return receiptOf(first as string);
      case "eth_getBlockReceipts":
        if (!view.withoutBlockReceipts) return receiptsOf(number(first));
    }
    throw new JsonRpcRefusal(-32_601, `the method ${method} does not exist/is not available`);
  }

  const front = await startRpcFront({
    path: "/",
    open: () => (call) => Promise.resolve().then(() => answer(call)),
  });
  return { ...front, view };
}
