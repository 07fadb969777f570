import { hexNumber, JsonRpcRefusal, type JsonRpcCall } from "./json-rpc.ts";
import { startRpcFront, type RpcFront } from "./rpc-front.ts";

/** A transfer of a chain that is made up. */
export interface FakeTransfer {
  /** 40 hexadecimal digits. */
  readonly to: string;
  readonly amount: bigint;
  /** 64 hexadecimal digits; made from the block and its place when absent. */
  readonly transactionHash?: string;
}

/** A chain of any length that costs nothing: blocks are computed when they are asked for. */
export interface FakeChain {
  readonly chainId: number;
  readonly contract: string;
  height(): number;
  /** Blocks on top; the first of them holds these transfers. */
  mine(blocks?: number, transfers?: readonly FakeTransfer[]): void;
  /** Puts transfers into a block that is there already, before anybody asked. */
  place(height: number, transfers: readonly FakeTransfer[]): void;
  /** Replaces the newest blocks by as many others; their transfers are gone. */
  reorg(depth: number): void;
  block(height: number): { readonly hash: string; readonly time: number };
  transfers(height: number): readonly (FakeTransfer & { readonly transactionHash: string })[];
  heights(): readonly number[];
}

/** What one node of a chain does wrong while it answers. A test sets the fields. */
export interface NodeView {
  /** It lacks the newest blocks. */
  lag: number;
  /** It tells of so many blocks that are not there, the newest of them as of now. */
  ahead: number;
  /** Every block that it tells of, and every log, is so many milliseconds later than on the chain. */
  timeShift: number;
  /** Its newest block alone is, too. */
  tipTimeShift: number;
  /** Its logs alone are, too. */
  logTimeShift: number;
  /** It calls its newest block final. */
  isAllFinal: boolean;
  /** It does not know the tag of the final block. */
  withoutFinal: boolean;
  chainId: number;
  decimals: number;
  /** More blocks in one eth_getLogs are refused. */
  rangeMax: number;
  /** Every eth_getLogs is empty, as of a node without its index. */
  hidesLogs: boolean;
  /** Of these transactions, in lower-case hex without 0x, its logs show nothing. */
  hidden: ReadonlySet<string>;
  /** It knows nothing of these, not even a receipt. */
  denied: ReadonlySet<string>;
  /** Every log is listed so often. */
  repeats: number;
  withoutBlockReceipts: boolean;
  /** Transfers that are nowhere but in its answers. */
  lies: Map<number, FakeTransfer>;
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
  /** Of block 0, in milliseconds. */
  readonly startAt: number;
  readonly blockMs: number;
}): FakeChain {
  const { chainId, contract, startAt, blockMs } = options;
  let height = 0;
  /** Where forks begin, the latest last: blocks from there on have other hashes. */
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
    ...{ chainId, contract, place },
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

/** A node of the chain, over HTTP on a free port: its faults are those of RpcFront, and its `view`. */
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
    const { hash } = chain.block(height);
    const shift = view.timeShift + (height === tip() ? view.tipTimeShift : 0);
    const time = chain.block(Math.min(height, chain.height())).time + shift;
    return { number: hexNumber(height), hash: `0x${hash}`, timestamp: hexNumber(time / 1_000) };
  }

  function logsOf(height: number): { readonly hash: string; readonly log: object }[] {
    const { hash, time } = chain.block(height);
    return transfersAt(height).map(({ transactionHash, to, amount }, place) => ({
      hash: transactionHash,
      log: {
        address: `0x${chain.contract}`,
        topics: [transferTopic, word(payer), word(to)],
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

  function getLogs(filter: Record<string, unknown>): object[] {
    const from = number(filter["fromBlock"]);
    const to = number(filter["toBlock"]);
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
