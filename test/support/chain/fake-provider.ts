// A provider of a fake chain tells the truth of it, but for the faults that a test gives it.
import type { Head, TransferLog, TransferQuery } from "../../../src/platform/chain/client.ts";
import type { ProviderFault } from "../../../src/platform/chain/providers/error.ts";
import type { FakeChain, FakeTransfer } from "./fake-chain.ts";

/** The faults of one provider of a chain. A test sets the fields. */
export interface Faults {
  /** The kind of failure of every call in the process; a node over HTTP fails by `fail`. */
  failure: ProviderFault | null;
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
  /** True to return logs without their block's time. */
  hidesTimes: boolean;
  /** True if it reports its newest block as final. */
  isAllFinal: boolean;
  /** True if it does not support the tag of the final block. */
  withoutFinal: boolean;
  chainId: number;
  decimals: number | ProviderFault;
  /** The largest range of logs in blocks; larger ones are refused. */
  rangeMax: number;
  /** True if every range of logs is empty, as from a node without its log index. */
  hidesLogs: boolean;
  /** Transaction hashes, in lowercase hex without 0x, that its logs omit. */
  hidden: ReadonlySet<string>;
  /** Transaction hashes that it does not know at all, not even by receipt. */
  denied: ReadonlySet<string>;
  /** The number of times that every log is listed. */
  repeats: number;
  withoutBlockReceipts: boolean;
  /** The hashes that it tells of some blocks, by height; null if it lacks the block. */
  hashes: ReadonlyMap<number, string | null>;
  /** Transfers that exist only in its answers, by height. */
  lies: Map<number, FakeTransfer>;
  /** The ranges of which it has no logs any more: a request that touches one is refused in these words. */
  pruned: readonly { readonly from: number; readonly to: number; readonly words: string }[];
  /** True if it lacks the blocks of the pruned ranges too. */
  prunesBlocks: boolean;
  /** Transaction hashes of which it has no receipts, although it has their logs. */
  withoutReceipts: ReadonlySet<string>;
  receipt: "true" | "unknown" | "failed" | "other_block" | "without_log";
  /** Called once before the next range of logs is answered, to change the chain while it is read. */
  beforeTransfers: (() => void) | null;
}

/** Returns the faults of an honest provider: none. */
export function honest(chainId: number): Faults {
  return {
    chainId,
    failure: null,
    lag: 0,
    ahead: 0,
    timeShift: 0,
    tipTimeShift: 0,
    logTimeShift: 0,
    hidesTimes: false,
    isAllFinal: false,
    withoutFinal: false,
    decimals: 6,
    rangeMax: Infinity,
    hidesLogs: false,
    hidden: new Set(),
    denied: new Set(),
    repeats: 1,
    withoutBlockReceipts: false,
    hashes: new Map(),
    lies: new Map(),
    pruned: [],
    prunesBlocks: false,
    withoutReceipts: new Set(),
    receipt: "true",
    beforeTransfers: null,
  };
}

/** The blocks of a chain as providers read them. */
export type ToldChain = Pick<
  FakeChain,
  "finalityLag" | "height" | "block" | "transfers" | "heights"
>;

/** A provider's refusal: the kind that its client sees in the process, or the code and words of a node. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly kind: ProviderFault;
  readonly code: number;

  constructor(kind: ProviderFault, code: number, words: string) {
    super(words);
    this.kind = kind;
    this.code = code;
  }
}

export interface ToldReceipt {
  readonly transactionHash: string;
  readonly succeeded: boolean;
  readonly blockHeight: number;
  readonly blockHash: string;
  readonly transfers: readonly TransferLog[];
}

/** A provider's answers. Those to what it cannot answer are thrown as a `Refusal`. */
export interface Told {
  latest(): Head | null;
  finalized(): Head | null;
  block(height: number): Head | null;
  transfers(query: TransferQuery): readonly TransferLog[];
  /** The height of the block with transfers that has this hash; null if no such block has any. */
  heightOf(blockHash: string): number | null;
  receiptsOfBlock(height: number): readonly ToldReceipt[];
  receipt(transactionHash: string): ToldReceipt | null;
}

/** Returns what a provider with these faults, which may change, tells of a chain. */
export function toldBy(chain: ToldChain, faults: Faults): Told {
  const tip = () => Math.max(0, chain.height() - faults.lag + faults.ahead);
  const finalHeight = () => Math.max(0, tip() - (faults.isAllFinal ? 0 : chain.finalityLag));
  const prunedIn = (from: number, to: number) =>
    faults.pruned.find((range) => range.from <= to && range.to >= from);
  const heights = () => {
    if (faults.lies.size === 0) return chain.heights();
    const all = new Set([...chain.heights(), ...faults.lies.keys()]);
    return [...all].sort((one, other) => one - other);
  };

  function block(height: number): Head | null {
    if (height > tip()) return null;
    if (faults.prunesBlocks && prunedIn(height, height) !== undefined) return null;
    const shift = faults.timeShift + (height === tip() ? faults.tipTimeShift : 0);
    const { time } = chain.block(Math.min(height, chain.height()));
    const hash = faults.hashes.get(height);
    if (hash === null) return null;
    return { height, hash: hash ?? chain.block(height).hash, time: time + shift };
  }

  function toldAt(height: number): readonly TransferLog[] {
    const lie = faults.lies.get(height);
    return chain.transfers(height, lie === undefined ? [] : [lie]);
  }

  function logsAt(height: number): readonly TransferLog[] {
    return toldAt(height)
      .filter(({ transactionHash }) => !faults.denied.has(transactionHash))
      .map((log) => ({
        ...log,
        blockTime: faults.hidesTimes
          ? null
          : (log.blockTime ?? 0) + faults.timeShift + faults.logTimeShift,
      }));
  }

  function logsIn(from: number, to: number): readonly TransferLog[] {
    faults.beforeTransfers?.();
    faults.beforeTransfers = null;
    const gone = prunedIn(from, to);
    if (gone !== undefined) throw new Refusal("refused", 4_444, gone.words);
    if (to - from + 1 > faults.rangeMax) {
      const words = `exceed max block range: ${String(faults.rangeMax)}`;
      throw new Refusal("range_too_large", -32_602, words);
    }
    if (faults.hidesLogs) return [];
    const logs = heights()
      .filter((height) => height >= from && height <= Math.min(to, tip()))
      .flatMap(logsAt)
      .filter(({ transactionHash }) => !faults.hidden.has(transactionHash));
    return Array.from({ length: faults.repeats }, () => logs).flat();
  }

  function receiptOf(transactionHash: string, logs: readonly TransferLog[]): ToldReceipt | null {
    const [first] = logs;
    if (first === undefined) return null;
    return {
      transactionHash,
      succeeded: faults.receipt !== "failed",
      blockHeight: first.blockHeight,
      blockHash: faults.receipt === "other_block" ? "e".repeat(64) : first.blockHash,
      transfers: faults.receipt === "without_log" ? [] : logs,
    };
  }

  const ofHash = (logs: readonly TransferLog[], hash: string) =>
    logs.filter(({ transactionHash }) => transactionHash === hash);

  return {
    latest: () => block(tip()),
    finalized: () => block(finalHeight()),
    block,
    transfers({ from, to, contracts, recipients }) {
      const wanted = recipients === null ? null : new Set(recipients);
      return logsIn(from, to)
        .filter(({ contract }) => contracts.includes(contract))
        .filter((log) => wanted === null || wanted.has(log.to));
    },
    heightOf: (blockHash) =>
      heights().find((height) => chain.block(height).hash === blockHash) ?? null,
    receiptsOfBlock(height) {
      const logs = logsAt(height);
      const hashes = [...new Set(logs.map(({ transactionHash }) => transactionHash))];
      return hashes.flatMap((hash) => receiptOf(hash, ofHash(logs, hash)) ?? []);
    },
    receipt(transactionHash) {
      if (faults.receipt === "unknown") return null;
      if (faults.withoutReceipts.has(transactionHash)) return null;
      const at = heights().find(
        (height) => height <= tip() && ofHash(toldAt(height), transactionHash).length > 0,
      );
      return at === undefined
        ? null
        : receiptOf(transactionHash, ofHash(logsAt(at), transactionHash));
    },
  };
}
