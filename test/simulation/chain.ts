import { minute, type Instant } from "../../src/kernel/clock.ts";
import type { Address, ChainClient, Head, TransferLog } from "../../src/platform/chain/client.ts";
import {
  inChainOrder,
  readTransfers,
  transferTopic,
} from "../../src/platform/chain/evm/transfer-log.ts";
import { ProviderError } from "../../src/platform/chain/providers/error.ts";
import { numbered } from "../../src/platform/chain/transfer-identity.ts";

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
  prunedFrom: 0,
  prunedTo: -1,
};

/**
 * Writes the logs of an answer as the node at this place does, and reads them as the client of nodes does. Every second
 * node counts logs from the end of the list, writes times as JSON numbers, null for no logs, and a pending log.
 */
function asWritten(
  logs: readonly TransferLog[],
  place: number,
  range: { readonly from: number; readonly to: number },
): TransferLog[] {
  const hex = (text: string) => `0x${text}`;
  const quantity = (number: number) => hex(number.toString(16));
  const isOdd = place % 2 === 1;
  const written = logs.map((log, index) => ({
    address: hex(log.contract),
    topics: [transferTopic, ...[log.from, log.to].map((one) => hex(one.padStart(64, "0")))],
    data: hex(log.amount.toString(16).padStart(64, "0")),
    transactionHash: hex(log.transactionHash),
    blockHash: hex(log.blockHash),
    blockNumber: isOdd ? log.blockHeight : quantity(log.blockHeight),
    blockTimestamp: isOdd ? (log.blockTime ?? 0) / 1_000 : quantity((log.blockTime ?? 0) / 1_000),
    logIndex: isOdd ? quantity(logs.length - index) : quantity(log.logIndex),
  }));
  const [first] = isOdd ? written : [];
  const pending = first === undefined ? [] : [{ ...first, blockNumber: null, blockHash: null }];
  const answer = isOdd && logs.length === 0 ? null : [...pending, ...written];
  const { transfers } = readTransfers(answer, { note: () => undefined, range });
  return numbered(inChainOrder(transfers));
}

export interface SimulatedProvider {
  readonly client: ChainClient;
  readonly lies: Lies;
  /** Ends its lies. */
  beHonest(): void;
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

export function makeChain(options: {
  readonly network: string;
  readonly chainId: number;
  /** How far the final block lies below the tip. */
  readonly finalityLag: number;
  readonly startAt: Instant;
  readonly lagMs: number;
  /** Of each provider: whether it offers the receipts of a block, by which an empty index of logs is found out. */
  readonly providers: readonly { readonly hasBlockReceipts: boolean }[];
  readonly decimals: ReadonlyMap<Address, number>;
}): SimulatedChain {
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
    const time = Math.max(at - options.lagMs, (blocks.at(-1)?.time ?? 0) + 1_000);
    const logs: TransferLog[] = numbered(
      sent.map((one, place) => ({
        ...one,
        logIndex: place,
        blockHeight: height,
        blockHash: hash,
        blockTime: time,
      })),
    );
    const block = { height, hash, time, minedAt: at, logs };
    blocks.push(block);
    past.push(...logs);
    for (const { transactionHash } of sent) {
      blockOf.set(transactionHash, block);
      if (!firstMined.has(transactionHash)) firstMined.set(transactionHash, at);
    }
  }

  function provider(place: number, hasBlockReceipts: boolean): SimulatedProvider {
    const name = `http://provider-${String(place)}`;
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
    async function call<T>(answer: () => T): Promise<T> {
      await Promise.resolve();
      if (!lies.isDead) return answer();
      throw new ProviderError("it does not answer", { kind: "unreachable", provider: name });
    }
    const assertKept = (from: number, to: number) => {
      if (from > lies.prunedTo || to < lies.prunedFrom) return;
      throw new ProviderError("history was pruned", { kind: "refused", provider: name });
    };
    const indexed = (from: number, to: number) =>
      lies.isEmpty ? [] : blocks.slice(from, Math.min(to, top().height - lies.indexLag) + 1);

    const client: ChainClient = {
      network: options.network,
      provider: name,
      chainId: () => call(() => options.chainId),
      heads: (known) =>
        call(() => {
          const latest = top();
          const asked = known === undefined ? undefined : blocks[known.final.height];
          const isThere = asked !== undefined && asked.height <= latest.height;
          const lag = lies.callsNewestFinal ? 0 : options.finalityLag;
          const final = blocks[Math.max(0, latest.height - lag)] ?? latest;
          return {
            latest: told(latest),
            finalized: told(final),
            known: isThere ? told(asked) : null,
          };
        }),
      transfers: ({ from, to, contracts, recipients }) =>
        call(() => {
          assertKept(from, to);
          const logs = asWritten(
            indexed(from, to)
              .flatMap((block) => block.logs)
              .filter((log) => contracts.includes(log.contract))
              .filter((log) => recipients === null || recipients.includes(log.to))
              .map(toldLog),
            place,
            { from, to },
          );
          return { logs, latest: told(top()) };
        }),
      blockTransfers: (height, contracts) =>
        call(() =>
          hasBlockReceipts
            ? (blocks[height]?.logs ?? [])
                .filter((log) => contracts.includes(log.contract) && log.amount > 0n)
                .map(toldLog)
            : null,
        ),
      blocks: (heights) =>
        call(() =>
          heights.map((height) => {
            const block = blocks[height];
            return block === undefined || !has(height) ? null : told(block);
          }),
        ),
      receipt: (transactionHash) =>
        call(() => {
          const block = blockOf.get(transactionHash);
          if (block === undefined || !has(block.height)) return null;
          return {
            transactionHash,
            succeeded: true,
            blockHeight: block.height,
            blockHash: block.hash,
            transfers: block.logs
              .filter((log) => log.transactionHash === transactionHash)
              .map(toldLog),
          };
        }),
      decimals: (contract) => call(() => options.decimals.get(contract) ?? 18),
    };
    return {
      client,
      lies,
      beHonest() {
        Object.assign(lies, truth);
      },
    };
  }

  mine(options.startAt - minute, []);
  return {
    blocks,
    past,
    providers: options.providers.map(({ hasBlockReceipts }, place) =>
      provider(place, hasBlockReceipts),
    ),
    lagMs: options.lagMs,
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
