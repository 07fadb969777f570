import { hour, minute, type Clock, type Instant } from "../../../../kernel/clock.ts";
import type { ChainClient } from "../../../../platform/chain/client.ts";
import type { ProviderPool } from "../../../../platform/chain/providers/pool.ts";
import type { ProviderHealth } from "../../../../platform/chain/state/provider-health.ts";
import {
  lastReadAt,
  rowsOutside,
  type ReadingRow,
} from "../../../../platform/chain/state/reading-ranges.ts";
import { unknownProvider } from "../../../../platform/chain/state/readings.ts";
import type { BlockRange } from "../../ledger/chain-diff.ts";

/**
 * How long after each reading of a range the next one is due, in milliseconds: the first delay catches an index that is
 * minutes behind its node, the second one an index that was repaired or replaced.
 */
const nextReadingMs = [2 * minute, hour] as const;

/** Final blocks whose next reading is due. */
export interface DueRange extends BlockRange {
  /** The rows that hold it, the lowest first. */
  readonly rows: readonly ReadingRow[];
}

/** Returns true if a range is due to be read again. */
function isDue({ readings }: ReadingRow, now: Instant): boolean {
  const counted = countedReadings(readings);
  return counted === null || isTime(counted, now);
}

/** The readings of a range that count: how many came after the first one, and the time of the last of them. */
interface CountedReadings {
  readonly done: number;
  readonly last: Instant;
}

/**
 * Counts the readings of a range; null for an unread range. A reading that came before it was due, such as an operator's
 * till chain scan, does not count: an index that is behind answers both readings alike.
 */
function countedReadings([first, ...later]: ReadingRow["readings"]): CountedReadings | null {
  if (first === undefined) return null;
  return later.reduce<CountedReadings>(
    (counted, { at }) => (isTime(counted, at) ? { done: counted.done + 1, last: at } : counted),
    { done: 0, last: first.at },
  );
}

/** The absolute difference also ends the wait if the clock was set back. */
function isTime({ done, last }: CountedReadings, at: Instant): boolean {
  return Math.abs(at - last) >= (nextReadingMs[done] ?? Infinity);
}

/**
 * Returns the lowest range that does not have all of its readings yet; null if all have. Ranges that an earlier
 * version read are not read again below the oldest hold, so they do not count, and neither do those that an operator
 * accepted as unread.
 */
export function lowestIncomplete(
  rows: readonly ReadingRow[],
  accepted: readonly BlockRange[] = [],
): ReadingRow | null {
  const isComplete = (row: ReadingRow) =>
    isOfEarlierVersion(row) || countedReadings(row.readings)?.done === nextReadingMs.length;
  return rowsOutside(rows, accepted).find((row) => !isComplete(row)) ?? null;
}

/**
 * Returns the newest final blocks that are due for another reading, with neighboring ranges joined; null if no range is
 * due. New ranges go before old ones, so that a backlog does not delay them. `oldestHold` is the lowest block that can
 * matter to an open hold: ranges that an earlier version read are not read again below it.
 */
export function nextDueRange(
  rows: readonly ReadingRow[],
  at: { readonly cursorHeight: number; readonly now: Instant; readonly oldestHold: number },
  blocksMax: number,
): DueRange | null {
  const joined: ReadingRow[] = [];
  let [from, to] = [0, -1];
  for (const row of rows.toReversed()) {
    const lowest = isOfEarlierVersion(row)
      ? Math.max(row.fromHeight, at.oldestHold)
      : row.fromHeight;
    const highest = Math.min(row.toHeight, at.cursorHeight);
    const isRead = lowest > highest || !isDue(row, at.now);
    if (joined.length > 0 && (isRead || highest !== from - 1)) break;
    if (isRead) continue;
    if (joined.length === 0) to = highest;
    joined.unshift(row);
    from = lowest;
    if (to - from + 1 >= blocksMax) break;
  }
  if (joined.length === 0) return null;
  return { from: Math.max(from, to - blocksMax + 1), to, rows: joined };
}

/** Returns true if the row comes from an earlier version, which did not record the provider. */
export function isOfEarlierVersion({ readings: [first] }: ReadingRow): boolean {
  return first?.provider === unknownProvider;
}

/**
 * Returns the provider for the next reading of a range: the one that has read the fewest of its blocks, preferably one
 * that is not in use. Null if no provider is usable.
 */
export function chooseReader<Health extends Pick<ProviderHealth, "provider" | "isInUse" | "place">>(
  able: readonly Health[],
  { from, to, rows }: DueRange,
): Health | null {
  const blocksReadBy = (provider: string) =>
    rows.reduce((sum, { fromHeight, toHeight, readings }) => {
      const blocks = Math.min(to, toHeight) - Math.max(from, fromHeight) + 1;
      return sum + blocks * readings.filter((each) => each.provider === provider).length;
    }, 0);
  const ranked = able.map((health) => ({ health, blocks: blocksReadBy(health.provider) }));
  ranked.sort(
    (one, other) =>
      one.blocks - other.blocks ||
      Number(one.health.isInUse) - Number(other.health.isInUse) ||
      one.health.place - other.health.place,
  );
  return ranked[0]?.health ?? null;
}

/** Returns true if a provider may be asked for a reading now. */
export function isAble({ condition }: Pick<ProviderHealth, "condition">): boolean {
  return condition === "ok" || condition === "unknown" || condition === "behind";
}

/** How long a provider is set aside after a failed reading, in milliseconds. */
const setAsideMs = minute;

/** A provider that may be asked for a reading now, with its health. */
export interface Candidate extends Pick<ProviderHealth, "provider" | "isInUse" | "place"> {
  readonly client: ChainClient;
}

/** The providers that may be asked for readings. */
export interface ReadingCandidates {
  /** Returns them in order of preference. Their eth_getLogs requests count against the limit of readings. */
  list(): Candidate[];
  /** Sets a provider aside for a minute, because its reading failed. */
  setAside(provider: string): void;
}

export function makeReadingCandidates(
  clock: Clock,
  pool: Pick<ProviderPool, "providers" | "health">,
  pace: Pace,
): ReadingCandidates {
  /** The time of the last failed reading, by provider. */
  const failedAt = new Map<string, Instant>();

  function isSetAside(provider: string): boolean {
    const failed = failedAt.get(provider);
    return failed !== undefined && Math.abs(clock.now() - failed) < setAsideMs;
  }

  function paced(client: ChainClient): ChainClient {
    return {
      ...client,
      transfers(query) {
        pace.count();
        return client.transfers(query);
      },
    };
  }

  return {
    list() {
      const health = pool.health();
      return pool.providers.flatMap((client, index): Candidate[] => {
        const own = health[index];
        if (own === undefined || !isAble(own) || isSetAside(client.provider)) return [];
        const { provider, isInUse } = own;
        return [{ provider, isInUse, place: index, client: paced(client) }];
      });
    },
    setAside(provider) {
      failedAt.set(provider, clock.now());
    },
  };
}

/** Returns the provider that is asked about transfers that only `provider` lists: preferably the one in use. */
export function otherThan(
  { provider }: Pick<Candidate, "provider">,
  able: readonly Candidate[],
): ChainClient | null {
  const others = able.filter((each) => each.provider !== provider);
  return (others.find(({ isInUse }) => isInUse) ?? others[0])?.client ?? null;
}

/** The average limit of eth_getLogs requests for readings, per minute. */
export const requestsPerMinute = 2;
/** The burst limit, in requests. */
const requestsBurst = 4;

/** Limits requests: readings of watched addresses by default. */
export interface Pace {
  /** Returns true if one more request is within the limit. */
  isWithin(): boolean;
  /** Counts a request, even one above the limit: later requests wait for it. */
  count(): void;
  /** Returns the number of requests since the process started. */
  counted(): number;
}

export function makePace(clock: Clock, perMinute = requestsPerMinute): Pace {
  let left = perMinute;
  let countedAt = clock.now();
  let total = 0;
  function refill(): void {
    const now = clock.now();
    const gained = (Math.max(0, now - countedAt) * perMinute) / minute;
    left = Math.min(Math.max(requestsBurst, perMinute), left + gained);
    countedAt = now;
  }
  return {
    isWithin() {
      refill();
      return left >= 1;
    },
    count() {
      refill();
      left -= 1;
      total += 1;
    },
    counted: () => total,
  };
}

/** Neighboring ranges with equal numbers of readings and the same providers, for operators. */
export interface ReadingSummary extends BlockRange {
  readonly timesRead: number;
  readonly providers: readonly string[];
  readonly readAt: Instant;
}

/** Summarizes the readings of the blocks in a range, lowest first. */
export function summarize(rows: readonly ReadingRow[], { from, to }: BlockRange): ReadingSummary[] {
  const summaries: ReadingSummary[] = [];
  for (const row of rows) {
    if (row.toHeight < from || row.fromHeight > to) continue;
    const summary = {
      from: Math.max(from, row.fromHeight),
      to: Math.min(to, row.toHeight),
      timesRead: row.readings.length,
      providers: [...new Set(row.readings.map(({ provider }) => provider))].sort(),
      readAt: lastReadAt(row),
    };
    const below = summaries.at(-1);
    const isSame =
      below?.timesRead === summary.timesRead &&
      below.to + 1 === summary.from &&
      below.providers.join(" ") === summary.providers.join(" ");
    if (below === undefined || !isSame) summaries.push(summary);
    else {
      const readAt = Math.max(below.readAt, summary.readAt);
      summaries[summaries.length - 1] = { ...below, to: summary.to, readAt };
    }
  }
  return summaries;
}
