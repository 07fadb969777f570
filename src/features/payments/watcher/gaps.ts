import { hour, minute, type Clock, type Instant } from "../../../kernel/clock.ts";
import type { ChainAlarms } from "../../../platform/chain/state/alarms.ts";
import type { ChainClient, Head, Heads } from "../../../platform/chain/client.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import { ProviderError } from "../../../platform/chain/providers/error.ts";
import { refusalOf } from "../../../platform/chain/providers/probe.ts";
import {
  rangeOfGap,
  type GapRow,
  type Refusal,
} from "../../../platform/chain/state/reading-ranges.ts";
import type { NetworkStateRow } from "../../../platform/chain/state/network-state.ts";
import type { BlockRange } from "../ledger/chain-diff.ts";
import { ReplyDropped, type RangeSize } from "./chain-reader.ts";

/**
 * Finds ranges of final blocks that no provider reads any more although they read newer ones, such as blocks whose logs
 * were pruned while Till was down. The watcher continues above them.
 */
export type GapSearch = ReturnType<typeof makeGapSearch>;

/** How long scans must fail before refused blocks are searched for, in milliseconds. */
const refusedForMs = minute;
/**
 * How long after a refusal the provider is asked again, in milliseconds: as long as it has refused so far, within these
 * limits.
 */
const askAgainFirstMs = 10 * minute;
const askAgainMostMs = 6 * hour;
/** The largest number of blocks that an operator accepts as unread with one command. */
export const acceptedBlocksMax = 1_000_000;
/** How long, and how recently, every provider must have refused a range that an operator accepts, in milliseconds. */
export const acceptedAfterMs = 10 * minute;
export const acceptedWithinMs = 24 * hour;

interface Deps {
  readonly clock: Clock;
  readonly network: Network;
  /** The individual providers. */
  readonly providers: readonly ChainClient[];
  readonly rangeSize: RangeSize;
}

/** A search for the first refused block, and then for the first one above it that a provider reads. */
interface Search {
  /** The lowest block that a scan reads. */
  first: number;
  /** The first block that is not known to be read. */
  next: number;
  /** The number of blocks that are asked for together, until a single one is refused. */
  size: number;
  /** Since when scans fail, once a single block was refused; null until then. */
  since: Instant | null;
  /** The first refusals of those providers that refused every block that was asked for since. */
  refusals: readonly ProviderRefusal[];
  /** The highest block above `next` that was refused, and the lowest one that was read. */
  refusedTo: number;
  readFrom: number | null;
}

type State = Deps & {
  search: Search | null;
  /** When a scan first failed since the last one that did not; null: the last one did not. */
  failingSince: Instant | null;
};

export type ProviderRefusal = Pick<Refusal, "provider" | "reason">;

/** A range that no provider reads, with the block above it. */
export interface FoundGap extends BlockRange {
  readonly refusals: readonly ProviderRefusal[];
  /** The hash of the last block of the gap; null if no provider has it. */
  readonly endHash: string | null;
  readonly above: Head;
}

/**
 * The result of a step: the watcher reads the blocks up to `notAbove`, searches on, or continues above a gap. Null: there
 * is no gap.
 */
type GapStep = { readonly notAbove: number } | { readonly found: FoundGap } | "searching" | null;

export function makeGapSearch(deps: Deps) {
  const self: State = { ...deps, search: null, failingSince: null };
  return {
    suspect(): void {
      suspect(self);
    },
    succeeded(): void {
      succeeded(self);
    },
    step: (state: NetworkStateRow, heads: Heads) => step(self, state, heads),
    resume(): void {
      resume(self);
    },
  };
}

/**
 * Begins a search at the next step, once scans have failed for so long that every provider had its turn: one of them may
 * read what another has pruned.
 */
function suspect(self: State): void {
  const now = self.clock.now();
  self.failingSince ??= now;
  if (Math.abs(now - self.failingSince) < refusedForMs) return;
  self.search ??= {
    first: 0,
    next: 0,
    size: self.rangeSize.current(),
    since: null,
    refusals: [],
    refusedTo: 0,
    readFrom: null,
  };
}

/** Notes that a scan did not fail. */
function succeeded(self: State): void {
  self.failingSince = null;
}

/** Ends the search: another process may have read the network meanwhile. */
function resume(self: State): void {
  end(self);
}

/**
 * Asks every provider for one range, so that a long search neither outlasts the lease nor delays others. Throws
 * ReplyDropped while a range is refused, but not for long enough.
 */
async function step(self: State, state: NetworkStateRow, heads: Heads): Promise<GapStep> {
  const { search } = self;
  if (search === null) return null;
  const { clock } = self;
  const latest = heads.latest.height;
  const most = Math.min(heads.finalized.height, latest - 1);
  const first = await firstUnread(self, state);
  // The newest scanned block was replaced since the search began, so that blocks below it are unread too.
  if (first < search.first) return end(self);
  search.first = first;
  search.next = Math.max(search.next, first);
  if (search.since === null) return firstRefused(self, search, state, heads);
  if (search.next > first) return { notAbove: search.next - 1 };
  const asked = heightOf(search, most, clock.now());
  if (asked === null) return found(self, search, heads);
  const reply = await refusalsOf(self, { from: asked, to: asked });
  if (typeof reply === "string") return null;
  const isFirst = asked === search.next;
  if (reply.length === 0) {
    if (isFirst) return end(self);
    search.readFrom = asked;
    return "searching";
  }
  search.refusals = ofBoth(search.refusals, reply);
  if (!isFirst) {
    search.refusedTo = asked;
    if (asked < most) return "searching";
  }
  const words = reply.map(({ provider, reason }) => `${provider}: ${reason}`);
  throw new ReplyDropped(
    `no provider reads block ${String(search.next)} any more (${words.join("; ")})`,
  );
}

/**
 * Returns the lowest block that a scan reads: above the newest scanned one if a provider still has that, and none has
 * replaced it.
 */
async function firstUnread(
  { providers }: State,
  { tipHeight, tipHash, cursorHeight }: NetworkStateRow,
): Promise<number> {
  if (tipHeight === cursorHeight) return cursorHeight + 1;
  const replies = await Promise.all(providers.map((client) => orNull(client.blocks([tipHeight]))));
  const hashes = replies.flatMap((reply) => reply?.[0]?.hash ?? []);
  const isThere = hashes.length > 0 && hashes.every((hash) => hash === tipHash);
  return (isThere ? tipHeight : cursorHeight) + 1;
}

/** Asks for the next blocks of a scan, and for half as many after each refusal, until a single one is refused. */
async function firstRefused(
  self: State,
  search: Search,
  { tipHeight }: NetworkStateRow,
  { latest, finalized }: Heads,
): Promise<GapStep> {
  const { clock, network, rangeSize } = self;
  const most = Math.max(rangeSize.current(), 2 * network.windowBlocks);
  const highest = Math.min(finalized.height, latest.height - 1, tipHeight + most);
  const to = Math.min(highest, search.next + search.size - 1);
  const span = to - search.next + 1;
  if (span < 1) return end(self);
  const reply = await refusalsOf(self, { from: search.next, to });
  if (reply === "unknown") return null;
  if (reply.length === 0) search.next = to + 1;
  else if (reply === "too_many" || span > 1) search.size = Math.max(1, Math.floor(span / 2));
  else {
    search.since = self.failingSince ?? clock.now();
    search.refusals = reply;
    search.refusedTo = search.next;
  }
  return "searching";
}

/**
 * Returns the next block to ask for: the first one until it was refused for long enough, then ever higher ones until one
 * is read, then those between. Null once the gap ends below a block that is read.
 */
function heightOf(search: Search, most: number, now: Instant): number | null {
  const { next, since, refusedTo, readFrom } = search;
  if (since === null || Math.abs(now - since) < refusedForMs) return next;
  if (readFrom === null) return Math.min(most, refusedTo + Math.max(1, refusedTo - next));
  return readFrom === refusedTo + 1 ? null : Math.floor((readFrom + refusedTo) / 2);
}

/**
 * Returns the gap if its ends are still refused, because each of them was asked for at another moment, and unless
 * providers contradict each other about the block above it.
 */
async function found(self: State, search: Search, { latest }: Heads): Promise<GapStep> {
  const { next: from, refusedTo: to } = search;
  for (const height of new Set([from, to])) {
    const reply = await refusalsOf(self, { from: height, to: height });
    if (typeof reply === "string") return null;
    if (reply.length === 0) return end(self);
    search.refusals = ofBoth(search.refusals, reply);
  }
  const { refusals } = search;
  const replies = await Promise.all(
    self.providers.map((client) => orNull(client.blocks([to, to + 1]))),
  );
  const aboves = replies.flatMap((reply) => reply?.[1] ?? []);
  const [above] = aboves;
  if (above === undefined || above.time > latest.time) return null;
  if (aboves.some(({ hash }) => hash !== above.hash)) return null;
  const [last] = replies.flatMap((reply) => reply?.[0] ?? []);
  end(self);
  return { found: { from, to, refusals, endHash: last?.hash ?? null, above } };
}

function end(self: State): null {
  self.search = null;
  self.failingSince = null;
  return null;
}

/** Returns the refusals of those providers that are also among the others. */
function ofBoth(
  refusals: readonly ProviderRefusal[],
  others: readonly ProviderRefusal[],
): readonly ProviderRefusal[] {
  return refusals.filter(({ provider }) => others.some((other) => other.provider === provider));
}

/**
 * Asks every provider for a range. Returns the refusals of those that answer; none if one reads it, `unknown` if no
 * provider answers, and `too_many` if they may only allow fewer blocks at once.
 */
export async function refusalsOf(
  { network, providers }: Pick<Deps, "network" | "providers">,
  range: BlockRange,
): Promise<readonly ProviderRefusal[] | "unknown" | "too_many"> {
  const contracts = network.tokens.map(({ contract }) => contract);
  // A node that has pruned a range refuses it whatever is filtered; a token's contract gets next to no transfers.
  const query = { ...range, contracts, recipients: contracts.slice(0, 1) };
  const refusals: ProviderRefusal[] = [];
  let isTooMany = false;
  for (const client of providers) {
    try {
      const reason = await refusalOf(client, query);
      if (reason === null) return [];
      refusals.push({ provider: client.provider, reason });
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      isTooMany ||= error.kind === "range_too_large";
    }
  }
  if (refusals.length > 0) return refusals;
  return isTooMany ? "too_many" : "unknown";
}

/** Returns null instead of an answer that a provider does not give. */
export async function orNull<T>(reply: Promise<T>): Promise<T | null> {
  try {
    return await reply;
  } catch (error) {
    if (error instanceof ProviderError) return null;
    throw error;
  }
}

/** Returns true if a provider has refused a gap, and has not read it since. */
export function hasRefused({ refusals }: GapRow, provider: string): boolean {
  return refusals.some((refusal) => refusal.provider === provider);
}

/** Returns true if a provider has refused a gap so recently that it is not asked again yet. */
export function isRefusedBy({ refusals }: GapRow, provider: string, now: Instant): boolean {
  return refusals.some(({ provider: refusing, since, at }) => {
    const waitMs = Math.min(askAgainMostMs, Math.max(askAgainFirstMs, at - since));
    return refusing === provider && Math.abs(now - at) < waitMs;
  });
}

/**
 * Raises an alarm for each gap that all of the able providers refuse and no operator accepted, until it is read or
 * accepted.
 */
export function reportGaps(
  { alarms, network }: { readonly alarms: ChainAlarms; readonly network: Network },
  gaps: readonly GapRow[],
  able: readonly string[],
): void {
  const open = gaps.filter(({ acceptedAt }) => acceptedAt === null);
  const subjects = new Set<string>();
  for (const row of open) {
    const { from, to } = rangeOfGap(row);
    const subject = `blocks ${String(from)} to ${String(to)}`;
    subjects.add(subject);
    const isRefused = able.length > 0 && able.every((name) => hasRefused(row, name));
    if (!isRefused && !alarms.holds("blocks_refused", subject)) continue;
    const [refusal] = row.refusals;
    const words = refusal === undefined ? "" : ` (${refusal.provider}: ${refusal.reason})`;
    const most = Math.min(to, from + acceptedBlocksMax - 1);
    alarms.raise(
      "blocks_refused",
      subject,
      `no provider reads ${subject} any more${words}, so payments in them may not be seen. Newer blocks are read, and the ` +
        "range is tried again from time to time. Add a provider that has it; if nobody has it, till chain accept-gap " +
        `--network ${network.id} --from ${String(from)} --to ${String(most)} --reason "…" gives it up`,
      { network: network.id, from, to },
    );
  }
  for (const { kind, subject } of alarms.open()) {
    if (kind === "blocks_refused" && !subjects.has(subject)) alarms.clear(kind, subject);
  }
}
