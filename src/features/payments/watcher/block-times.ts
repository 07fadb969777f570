import { LRUCache } from "lru-cache";
import type { ChainAlarms } from "../../../platform/chain/state/alarms.ts";
import { aheadMaxMs } from "../../../platform/chain/state/head-times.ts";
import type { ChainClient, Head } from "../../../platform/chain/client.ts";
import { ProviderError } from "../../../platform/chain/providers/error.ts";
import type { ProviderPool } from "../../../platform/chain/providers/pool.ts";
import { minute, toIso, type Clock, type Instant } from "../../../kernel/clock.ts";

/** A block whose time is needed. */
export interface AskedBlock {
  readonly height: number;
  readonly hash: string;
  /** A time that a provider already reported for the block; null if none did. */
  readonly reported: { readonly provider: string; readonly time: Instant } | null;
}

interface BelievedTime {
  readonly time: Instant;
  /** True if two providers reported this time, or if the only configured provider did. */
  readonly isAgreed: boolean;
}

/**
 * Determines the block times on which payments depend. A block's hash commits to its time, but providers do not prove
 * it: with two or more providers, two must report the same time before it makes a payment late or releases a hold.
 */
export type BlockTimes = ReturnType<typeof makeBlockTimes>;

/** How long block times may stay unconfirmed by a second provider before an alarm is raised, in milliseconds. */
const unconfirmedMs = 10 * minute;
/** Failures further apart than this, in milliseconds, count as two outages, because no time was requested between them. */
const sameOutageMs = 2 * minute;
/** The largest number of agreed block times in the cache; those unused for the longest are dropped, and requested again if needed. */
const agreedMax = 10_000;

interface Deps {
  readonly clock: Clock;
  /** The individual providers, in order of preference. */
  readonly providers: readonly ChainClient[];
  readonly alarms: ChainAlarms;
  readonly pool?: Pick<ProviderPool, "suspectTime">;
}

type State = Deps & {
  /** Number of providers that must report the same time. */
  readonly needed: number;
  /** The agreed times, by block hash. */
  readonly agreed: LRUCache<string, { readonly height: number; readonly time: Instant }>;
  readonly network: string;
  /** Since when no time could be confirmed, and when this was last found; null if the last one was confirmed. */
  unconfirmed: { readonly since: Instant; readonly foundAt: Instant } | null;
};

export function makeBlockTimes(deps: Deps) {
  const { providers } = deps;
  const state: State = {
    ...deps,
    needed: Math.min(2, providers.length),
    agreed: new LRUCache({ max: agreedMax }),
    network: providers[0]?.network ?? "",
    unconfirmed: null,
  };
  return {
    of: (blocks: readonly AskedBlock[]) => of(state, blocks),
    forgetBelow(height: number): void {
      forgetBelow(state, height);
    },
  };
}

/**
 * Returns block times by hash. A block without an agreed time gets the reported one, or is left out if there is no
 * report. The other providers are asked for all blocks at once, each at most once per call. Agreed times are cached;
 * with a single provider, its latest report counts.
 */
async function of(
  state: State,
  blocks: readonly AskedBlock[],
): Promise<ReadonlyMap<string, BelievedTime>> {
  const { needed, agreed } = state;
  const distinct = [...new Map(blocks.map((block) => [block.hash, block])).values()];
  const isAlone = needed < 2;
  const open = distinct.filter(
    ({ hash, reported }) => !agreed.has(hash) || (isAlone && reported !== null),
  );
  if (open.length > 0) await ask(state, open);
  const believed = new Map(
    distinct.flatMap(({ hash, reported }): [string, BelievedTime][] => {
      const known = agreed.get(hash);
      if (known !== undefined) return [[hash, { time: known.time, isAgreed: true }]];
      return reported === null ? [] : [[hash, { time: reported.time, isAgreed: false }]];
    }),
  );
  return believed;
}

/** Forgets the blocks below a height. */
function forgetBelow({ agreed }: State, height: number): void {
  for (const [hash, block] of agreed) if (block.height < height) agreed.delete(hash);
}

async function blocksOf(
  provider: ChainClient,
  asked: readonly AskedBlock[],
): Promise<readonly (Head | null)[]> {
  try {
    return await provider.blocks(asked.map(({ height }) => height));
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return [];
  }
}

/** Compares the times that providers reported for one block, and distrusts a time that two others contradict. */
function judge(
  { alarms, pool, needed, agreed }: State,
  { height, hash }: AskedBlock,
  votes: ReadonlyMap<string, Instant>,
): void {
  const times = [...votes.values()];
  const time = times.find((one) => times.filter((other) => other === one).length >= needed);
  if (time !== undefined) {
    agreed.set(hash, { height, time });
    for (const [provider, reported] of votes) {
      alarms.clear("block_time_disputed", provider);
      if (reported === time) continue;
      pool?.suspectTime(provider, "it reports a block time that two others contradict", {
        blockHeight: height,
        blockTime: toIso(reported),
        otherTime: toIso(time),
      });
    }
    return;
  }
  const [first, second] = [...votes];
  if (first === undefined || second === undefined) return;
  alarms.raise(
    "block_time_disputed",
    second[0],
    `${first[0]} and ${second[0]} report different times for a block. Until they agree, neither time makes a payment late.`,
    { blockHeight: height, blockHash: hash, times: [toIso(first[1]), toIso(second[1])] },
  );
}

/** Asks the providers without a vote, one after another, until every block has enough votes. */
async function ask(state: State, open: readonly AskedBlock[]): Promise<void> {
  const { clock, providers, needed } = state;
  const votes = new Map(
    open.map(({ hash, reported }) => [
      hash,
      new Map(reported === null ? [] : [[reported.provider, reported.time] as const]),
    ]),
  );
  const votesOf = (block: AskedBlock) => votes.get(block.hash) ?? new Map<string, Instant>();
  for (const provider of providers) {
    const due = open.filter((block) => {
      const given = votesOf(block);
      const times = [...given.values()];
      const isDecided = times.some(
        (one) => times.filter((other) => other === one).length >= needed,
      );
      return !isDecided && !given.has(provider.provider);
    });
    if (due.length === 0) continue;
    const found = await blocksOf(provider, due);
    for (const [index, block] of due.entries()) {
      const own = found[index];
      if (own?.hash !== block.hash || own.time > clock.now() + aheadMaxMs) continue;
      votesOf(block).set(provider.provider, own.time);
    }
  }
  for (const block of open) judge(state, block, votesOf(block));
  noteConfirmation(state, open);
}

/** Raises an alarm if no second provider answers for long: until then holds stay and late payments are in time. */
function noteConfirmation(state: State, asked: readonly AskedBlock[]): void {
  const { clock, alarms, agreed, network } = state;
  if (asked.some(({ hash }) => agreed.has(hash))) {
    state.unconfirmed = null;
    alarms.clear("block_time_unconfirmed", network);
    return;
  }
  const now = clock.now();
  const before = state.unconfirmed;
  const isSameOutage = before !== null && now - before.foundAt < sameOutageMs;
  // A clock that was set back must not prolong the wait.
  const since = isSameOutage ? Math.min(now, before.since) : now;
  state.unconfirmed = { since, foundAt: now };
  if (now - since < unconfirmedMs) return;
  alarms.raise(
    "block_time_unconfirmed",
    network,
    `since ${toIso(since)} no second provider has confirmed the time of a block: holds that ` +
      "have ended are not released, and late payments count as in time. Repair or replace the " +
      "providers that do not answer; till chain status lists them.",
    { network },
  );
}
