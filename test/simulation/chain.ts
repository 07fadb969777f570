import { setImmediate } from "node:timers/promises";
import { minute, second, type Instant } from "../../src/kernel/clock.ts";
import {
  numbered,
  type Address,
  type Head,
  type TransferLog,
} from "../../src/platform/chain/client.ts";
import { createJsonRpcClient } from "../../src/platform/chain/evm/client.ts";
import { makeBudget, makeProviderLimits } from "../../src/platform/chain/providers/limits.ts";
import type { PooledProvider } from "../../src/platform/chain/providers/member.ts";
import type { ConfiguredNetwork } from "../../src/platform/config/config.ts";
import { JsonRpcRefusal } from "../support/chain/json-rpc.ts";
import { makeNode, type NodeAnswers, type NodeLimits } from "./node.ts";

/** A transfer of tokens before a block has it. */
export interface Sending {
  readonly transactionHash: string;
  readonly contract: Address;
  readonly from: Address;
  readonly to: Address;
  readonly amount: bigint;
}

export interface Block extends Head {
  /** When it was mined, by the clock. Its time is earlier on a chain whose sequencer is behind. */
  readonly minedAt: Instant;
  readonly logs: readonly TransferLog[];
}

/** The false answers of one provider. Several can be given at the same time. */
export interface Lies {
  /** It does not answer. */
  isDead: boolean;
  /** Added to the time of every block from `timesFrom` to `timesTo`. */
  shiftMs: number;
  timesFrom: number;
  timesTo: number;
  /** The times of blocks are true, and only those in its logs are shifted. */
  shiftsLogsAlone: boolean;
  /** Its index of logs answers with nothing. */
  isEmpty: boolean;
  /** The number of newest blocks that its index of logs lacks and answers as if they held nothing. */
  indexLag: number;
  /** The number of newest blocks that it does not have. */
  behind: number;
  /** It calls its newest block final. */
  callsNewestFinal: boolean;
  /** Nobody can read the amounts in its logs. */
  garblesAmounts: boolean;
  /** It refuses the logs from `prunedFrom` to `prunedTo`; -1: it has all of them. */
  prunedFrom: number;
  prunedTo: number;
}

const truth: Lies = {
  isDead: false,
  shiftMs: 0,
  timesFrom: 0,
  timesTo: Infinity,
  shiftsLogsAlone: false,
  isEmpty: false,
  indexLag: 0,
  behind: 0,
  callsNewestFinal: false,
  garblesAmounts: false,
  prunedFrom: 0,
  prunedTo: -1,
};

export interface SimulatedProvider {
  /** Returns the client of a process, which knows nothing of the provider yet. */
  connect(): PooledProvider;
  readonly lies: Lies;
  readonly limits: NodeLimits;
  /** Ends its lies. */
  beHonest(): void;
}

export interface ProviderTraits {
  /** Whether it offers the receipts of a block, by which an empty index of logs is found out. */
  readonly hasBlockReceipts: boolean;
  readonly limits: NodeLimits;
}

/** The clock of a history, and how those who wait let it pass. */
export interface SimulatedTime {
  readonly now: () => Instant;
  readonly pass: (milliseconds: number) => void;
  /** How far the times of blocks are behind the clock. */
  readonly lagMs: number;
}

/** One chain as it is, and providers that tell of it. */
export interface SimulatedChain {
  readonly blocks: readonly Block[];
  /** Every log that was ever on the chain, those of replaced blocks too. */
  readonly past: readonly TransferLog[];
  readonly providers: readonly SimulatedProvider[];
  /** How far the times of its blocks are behind the clock. */
  readonly lagMs: number;
  /** When a transaction was first mined, by the clock; 0 if it never was. */
  minedAt(transactionHash: string): Instant;
  /** A block on top that is mined now. */
  mine(at: Instant, sent: readonly Sending[]): void;
  /** Removes the newest blocks and returns their logs. The blocks mined next have other hashes. */
  rollback(count: number): readonly Sending[];
  tip(): Block;
}

/** Returns a function that waits for so many milliseconds of the history's clock. The shortest wait ends first. */
function makeSleep(clock: SimulatedTime): (milliseconds: number) => Promise<void> {
  const ends: Instant[] = [];
  return async (milliseconds) => {
    const end = clock.now() + milliseconds;
    ends.push(end);
    while (clock.now() < end) {
      await setImmediate();
      if (clock.now() < end && Math.min(...ends) === end) clock.pass(end - clock.now());
    }
    ends.splice(ends.indexOf(end), 1);
  };
}

export function makeChain(options: {
  readonly network: ConfiguredNetwork;
  /** How far the final block lies below the tip. */
  readonly finalityLag: number;
  readonly startAt: Instant;
  readonly providers: readonly ProviderTraits[];
  readonly time: SimulatedTime;
}): SimulatedChain {
  const { network, time: clock } = options;
  const { tokens } = network;
  const sleep = makeSleep(clock);
  const blocks: Block[] = [];
  const past: TransferLog[] = [];
  const blockOf = new Map<string, Block>();
  const firstMined = new Map<string, Instant>();
  let hashes = 0;

  const tip = (): Block => {
    const top = blocks.at(-1);
    if (top === undefined) throw new Error("the chain is empty");
    return top;
  };

  function mine(at: Instant, sent: readonly Sending[]): void {
    hashes += 1;
    const height = blocks.length;
    const hash = `b${hashes.toString(16).padStart(63, "0")}`;
    // Blocks have whole seconds.
    const blockTime = Math.max(
      Math.floor((at - clock.lagMs) / second) * second,
      (blocks.at(-1)?.time ?? 0) + second,
    );
    const logs: TransferLog[] = numbered(
      sent.map((one, place) => ({
        ...one,
        logIndex: place,
        blockHeight: height,
        blockHash: hash,
        blockTime,
      })),
    );
    const block = { height, hash, time: blockTime, minedAt: at, logs };
    blocks.push(block);
    past.push(...logs);
    for (const { transactionHash } of sent) {
      blockOf.set(transactionHash, block);
      if (!firstMined.has(transactionHash)) firstMined.set(transactionHash, at);
    }
  }

  function provider(
    place: number,
    { hasBlockReceipts, limits }: ProviderTraits,
  ): SimulatedProvider {
    const url = `http://provider-${String(place)}`;
    const lies = { ...truth };

    const top = (): Block => blocks[Math.max(0, blocks.length - 1 - lies.behind)] ?? tip();
    const shift = (height: number) =>
      height >= lies.timesFrom && height <= lies.timesTo ? lies.shiftMs : 0;
    const told = ({ height, hash, time }: Head): Head => ({
      height,
      hash,
      time: time + (lies.shiftsLogsAlone ? 0 : shift(height)),
    });
    const toldLog = (log: TransferLog): TransferLog => ({
      ...log,
      blockTime: (log.blockTime ?? 0) + shift(log.blockHeight),
    });
    const has = (height: number) => height <= top().height;
    const indexed = (from: number, to: number) =>
      lies.isEmpty ? [] : blocks.slice(from, Math.min(to, top().height - lies.indexLag) + 1);
    const decimals = new Map(tokens.map((token) => [token.contract, token.decimals]));

    const answers: NodeAnswers = {
      isUp: () => !lies.isDead,
      chainId: () => network.chainId,
      latest: () => told(top()),
      finalized() {
        const lag = lies.callsNewestFinal ? 0 : options.finalityLag;
        return told(blocks[Math.max(0, top().height - lag)] ?? top());
      },
      block(height) {
        const block = blocks[height];
        return block === undefined || !has(height) ? null : told(block);
      },
      logs(from, to) {
        const isKept = from > lies.prunedTo || to < lies.prunedFrom;
        if (!isKept) throw new JsonRpcRefusal(-32_000, "history was pruned");
        return indexed(from, to).flatMap(({ logs }) => logs.map(toldLog));
      },
      receiptsOfBlock: (height) =>
        hasBlockReceipts ? (blocks[height]?.logs ?? []).map(toldLog) : null,
      receipt(transactionHash) {
        const block = blockOf.get(transactionHash);
        if (block === undefined || !has(block.height)) return null;
        const logs = block.logs.filter((log) => log.transactionHash === transactionHash);
        return { block, logs: logs.map(toldLog) };
      },
      decimals: (contract) => decimals.get(contract) ?? 18,
      garblesAmounts: () => lies.garblesAmounts,
    };
    const node = makeNode({ place, answers, limits, now: clock.now });
    return {
      connect() {
        const rates = { requestsPerSecond: 25, requestsPerDay: null };
        const known = makeProviderLimits({ clock, network, batchMax: 100, ...rates });
        const budget = makeBudget({
          limits: rates,
          tolerated: () => known.requestsPerSecond.current(),
          clock,
          provider: url,
          delay: sleep,
        });
        const client = createJsonRpcClient({
          network,
          url,
          fetch: node,
          limits: known,
          beforeRequest: () => budget.take(),
        });
        return { client, budget, limits: known };
      },
      lies,
      limits,
      beHonest() {
        Object.assign(lies, truth);
      },
    };
  }

  mine(options.startAt - minute, []);
  return {
    blocks,
    past,
    providers: options.providers.map((traits, place) => provider(place, traits)),
    lagMs: clock.lagMs,
    minedAt: (transactionHash) => firstMined.get(transactionHash) ?? 0,
    mine,
    rollback(count) {
      const gone = blocks.splice(blocks.length - count, count).flatMap(({ logs }) => logs);
      for (const { transactionHash } of gone) blockOf.delete(transactionHash);
      return gone;
    },
    tip,
  };
}
