import type { Instant } from "../../../../src/kernel/clock.ts";
import {
  numbered,
  type Address,
  type ChainClient,
  type Head,
  type TransferLog,
} from "../../../../src/platform/chain/client.ts";
import {
  ProviderError,
  type ProviderFault,
} from "../../../../src/platform/chain/providers/error.ts";

/** A transfer as a test describes it. */
export interface ScriptedTransfer {
  /** The name of the transaction; several transfers may share one. */
  readonly transaction: string;
  readonly contract: Address;
  readonly from?: Address;
  readonly to: Address;
  readonly amount: bigint;
}

interface Block extends Head {
  readonly logs: readonly TransferLog[];
}

/** A chain under the control of a test, and its provider, which may fail, lag and lie. */
export interface ScriptedChain {
  readonly client: ChainClient;
  /** Adds another provider of the same chain. */
  provider(name: string, faults?: Partial<Faults>): ChainClient;
  readonly faults: Faults;
  /** Adds blocks, the first of them with these transfers. */
  mine(transfers?: readonly ScriptedTransfer[], blocks?: number): void;
  /** Removes blocks; the next ones have other hashes. */
  rollback(blocks: number): void;
  tip(): Head;
  /** The names of the methods that were called, in order. */
  readonly calls: string[];
}

export interface Faults {
  /** The kind of failure of every call. */
  failure: ProviderFault | null;
  /** The largest range in blocks; larger ones are refused. */
  rangeMax: number;
  /** True to return logs without their block's time. */
  hidesTimes: boolean;
  /** True to return no logs. */
  hidesLogs: boolean;
  /** The number of newest blocks that the provider lacks. */
  lag: number;
  chainId: number;
  decimals: number | ProviderFault;
  /** Called once before the next range is answered, to change the chain while it is read. */
  beforeTransfers: (() => void) | null;
  receipt: "true" | "unknown" | "failed" | "other_block" | "without_log";
}

export const wordOf = (text: string): string =>
  Buffer.from(text).toString("hex").padStart(64, "0").slice(-64);
export const addressOf = (text: string): Address =>
  Buffer.from(text).toString("hex").padStart(40, "0").slice(-40);

const honest: Faults = {
  failure: null,
  rangeMax: Infinity,
  hidesTimes: false,
  hidesLogs: false,
  lag: 0,
  chainId: 1,
  decimals: 6,
  beforeTransfers: null,
  receipt: "true",
};

export function scriptChain(options: {
  readonly startAt: Instant;
  readonly blockMs: number;
  /** The distance of the final block from the tip, in blocks. */
  readonly finalityLag: number;
  readonly chainId: number;
}): ScriptedChain {
  const blocks: Block[] = [];
  let hashes = 0;

  function mineOne(transfers: readonly ScriptedTransfer[]): void {
    const height = blocks.length;
    hashes += 1;
    const hash = wordOf(`block ${String(hashes)}`);
    const time = options.startAt + height * options.blockMs;
    const sent = transfers.map((transfer, place) => ({
      transactionHash: wordOf(transfer.transaction),
      logIndex: place,
      blockHeight: height,
      blockHash: hash,
      blockTime: time,
      contract: transfer.contract,
      from: transfer.from ?? addressOf("payer"),
      to: transfer.to,
      amount: transfer.amount,
    }));
    const logs: TransferLog[] = numbered(sent);
    blocks.push({ height, hash, time, logs });
  }

  function headOf(block: Block): Head {
    return { height: block.height, hash: block.hash, time: block.time };
  }

  const calls: string[] = [];

  function provider(name: string, given: Partial<Faults> = {}): ChainClient {
    const faults = Object.assign(given, { ...honest, chainId: options.chainId, ...given });
    return makeClient(name, faults);
  }

  function makeClient(name: string, faults: Faults): ChainClient {
    const visible = () => blocks.slice(0, Math.max(1, blocks.length - faults.lag));
    const tip = (): Head => {
      const top = visible().at(-1);
      if (top === undefined) throw new Error("the chain is empty");
      return headOf(top);
    };
    const fail = (kind: ProviderFault): never => {
      throw new ProviderError(`it is ${kind}`, { kind, provider: name });
    };
    async function call<T>(method: string, answer: () => T): Promise<T> {
      calls.push(method);
      await Promise.resolve();
      if (faults.failure !== null) fail(faults.failure);
      return answer();
    }
    return {
      network: "ethereum",
      provider: name,
      chainId: () => call("chainId", () => faults.chainId),
      heads: (known) =>
        call("heads", () => {
          const latest = tip();
          const final = blocks[Math.max(0, latest.height - options.finalityLag)];
          const asked = known === undefined ? undefined : visible()[known.final.height];
          return {
            latest,
            finalized: final === undefined ? latest : headOf(final),
            known: asked === undefined ? null : headOf(asked),
          };
        }),
      transfers: ({ from, to, contracts, recipients }) =>
        call("transfers", () => {
          faults.beforeTransfers?.();
          faults.beforeTransfers = null;
          if (to - from + 1 > faults.rangeMax) fail("range_too_large");
          const found = visible()
            .slice(from, to + 1)
            .flatMap(({ logs }) => logs)
            .filter(({ contract }) => contracts.includes(contract))
            .filter((log) => recipients === null || recipients.includes(log.to));
          const logs = found.map((log) => (faults.hidesTimes ? { ...log, blockTime: null } : log));
          return { logs: faults.hidesLogs ? [] : logs, latest: tip() };
        }),
      blockTransfers: () => Promise.resolve(null),
      blocks: (heights) =>
        call("blocks", () =>
          heights.map((height) => {
            const block = visible()[height];
            return block === undefined ? null : headOf(block);
          }),
        ),
      receipt: (transactionHash) =>
        call("receipt", () => {
          const block = visible().find(({ logs }) =>
            logs.some((log) => log.transactionHash === transactionHash),
          );
          if (block === undefined || faults.receipt === "unknown") return null;
          const transfers = block.logs.filter((log) => log.transactionHash === transactionHash);
          return {
            transactionHash,
            succeeded: faults.receipt !== "failed",
            blockHeight: block.height,
            blockHash: faults.receipt === "other_block" ? wordOf("another") : block.hash,
            transfers: faults.receipt === "without_log" ? [] : transfers,
          };
        }),
      decimals: () =>
        call("decimals", () =>
          typeof faults.decimals === "number" ? faults.decimals : fail(faults.decimals),
        ),
    };
  }

  const faults: Faults = { ...honest, chainId: options.chainId };
  mineOne([]);
  return {
    client: makeClient("http://first", faults),
    provider,
    faults,
    mine(transfers = [], count = 1) {
      mineOne(transfers);
      for (let block = 1; block < count; block += 1) mineOne([]);
    },
    rollback(count) {
      blocks.splice(blocks.length - count, count);
    },
    tip() {
      const top = blocks.at(-1);
      if (top === undefined) throw new Error("the chain is empty");
      return headOf(top);
    },
    calls,
  };
}
