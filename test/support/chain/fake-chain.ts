// The chain of tests that need no real node: its blocks, transfers and forks. Providers tell of it, in the process
// (`provider`) or as an EVM node over HTTP (fake-node.ts), truly or with the faults that a test gives them.
import type { Instant } from "../../../src/kernel/clock.ts";
import {
  numbered,
  type Address,
  type ChainClient,
  type Head,
  type TransferLog,
} from "../../../src/platform/chain/client.ts";
import { clientOf } from "./fake-client.ts";
import { honest, type Faults } from "./fake-provider.ts";

/** A transfer as a test describes it. */
export interface FakeTransfer {
  /** The name of the transaction, of which its hash is made; several transfers may share one. */
  readonly transaction?: string;
  /** 64 hexadecimal digits, in place of a name; by default derived from the block and the place in it. */
  readonly transactionHash?: string;
  /** By default the token of the chain. */
  readonly contract?: Address;
  /** By default a payer. */
  readonly from?: Address;
  readonly to: Address;
  readonly amount: bigint;
}

/** A transfer by which a test finds its transaction again. */
export interface NamedTransfer extends FakeTransfer {
  readonly transaction: string;
  readonly contract: Address;
}

/** A chain of any length at no cost: blocks are computed on request. */
export interface FakeChain {
  readonly chainId: number;
  /** The distance of the final block from the tip, in blocks. */
  readonly finalityLag: number;
  height(): number;
  tip(): Head;
  block(height: number): Head;
  /** Returns the transfers of a block, and those that a provider invents in it. */
  transfers(height: number, invented?: readonly FakeTransfer[]): readonly TransferLog[];
  /** The heights of the blocks with transfers, lowest first. */
  heights(): readonly number[];
  /** Adds blocks, the first of them with these transfers. */
  mine(transfers?: readonly FakeTransfer[], blocks?: number): void;
  /** Adds transfers to a block, before any request for it. */
  place(height: number, transfers: readonly FakeTransfer[]): void;
  /** Removes blocks; the next ones have other hashes. */
  rollback(blocks: number): void;
  /** Replaces the newest blocks by the same number of new ones, without their transfers. */
  reorg(depth: number): void;
  /** The first provider in the process, and its faults. */
  readonly client: ChainClient;
  readonly faults: Faults;
  /** Adds another provider in the process. */
  provider(name: string, faults?: Partial<Faults>): ChainClient;
  /** The names of the methods that were called in the process, in order. */
  readonly calls: string[];
}

export const wordOf = (text: string): string =>
  Buffer.from(text).toString("hex").padStart(64, "0").slice(-64);
export const addressOf = (text: string): Address =>
  Buffer.from(text).toString("hex").padStart(40, "0").slice(-40);

export function makeFakeChain(options: {
  readonly chainId: number;
  /** The token of transfers that name none: 40 hexadecimal digits. */
  readonly contract?: Address;
  /** The time of block 0, in milliseconds. */
  readonly startAt: Instant;
  readonly blockMs: number;
  /** By default 10. */
  readonly finalityLag?: number;
}): FakeChain {
  const { chainId, contract: token = "", startAt, blockMs, finalityLag = 10 } = options;
  let height = 0;
  /** The heights of forks, latest last: from there on, blocks have other hashes. */
  const forks: number[] = [];
  const placed = new Map<
    number,
    readonly (FakeTransfer & { readonly transactionHash: string })[]
  >();
  /** The same as logs, and their heights; made when they are asked for. */
  const logs = new Map<number, readonly TransferLog[]>();
  let sorted: readonly number[] | null = null;

  function place(at: number, transfers: readonly FakeTransfer[]): void {
    const before = placed.get(at) ?? [];
    const named = transfers.map((transfer, index) => {
      const made = `${at.toString(16)}f${String(before.length + index)}e${String(forks.length)}`;
      const hash = transfer.transaction === undefined ? null : wordOf(transfer.transaction);
      const transactionHash = transfer.transactionHash ?? hash ?? made.padStart(64, "0");
      return { ...transfer, transactionHash };
    });
    placed.set(at, [...before, ...named]);
    logs.delete(at);
    sorted = null;
  }

  function block(at: number): Head {
    const fork = forks.findLastIndex((first) => at >= first) + 1;
    const hash = `${fork.toString(16).padStart(4, "0")}b${at.toString(16).padStart(12, "0")}`;
    return { height: at, hash: hash.padStart(64, "c"), time: startAt + at * blockMs };
  }

  function logsOf(at: number, transfers: readonly FakeTransfer[]): readonly TransferLog[] {
    const { hash, time } = block(at);
    return numbered(
      transfers.map((transfer, logIndex) => ({
        transactionHash: transfer.transactionHash ?? "1e".repeat(32),
        logIndex,
        blockHeight: at,
        blockHash: hash,
        blockTime: time,
        contract: transfer.contract ?? token,
        from: transfer.from ?? addressOf("payer"),
        to: transfer.to,
        amount: transfer.amount,
      })),
    );
  }

  function rollback(blocks: number): void {
    height -= blocks;
    forks.push(height + 1);
    for (const at of placed.keys()) {
      if (at <= height) continue;
      placed.delete(at);
      logs.delete(at);
    }
    sorted = null;
  }

  const calls: string[] = [];
  const faults: Faults = honest(chainId);
  const chain: Omit<FakeChain, "client" | "faults" | "provider" | "calls"> = {
    chainId,
    finalityLag,
    height: () => height,
    tip: () => block(height),
    block,
    transfers(at, invented = []) {
      if (invented.length > 0) return logsOf(at, [...(placed.get(at) ?? []), ...invented]);
      const made = logs.get(at) ?? logsOf(at, placed.get(at) ?? []);
      if (made.length > 0) logs.set(at, made);
      return made;
    },
    heights: () => (sorted ??= [...placed.keys()].sort((one, other) => one - other)),
    mine(transfers = [], blocks = 1) {
      if (transfers.length > 0) place(height + 1, transfers);
      height += blocks;
    },
    place,
    rollback,
    reorg(depth) {
      rollback(depth);
      height += depth;
    },
  };
  return {
    ...chain,
    client: clientOf(chain, "http://first", faults, calls),
    faults,
    provider(name, given = {}) {
      const whole = Object.assign(given, { ...honest(chainId), ...given });
      return clientOf(chain, name, whole, calls);
    },
    calls,
  };
}
