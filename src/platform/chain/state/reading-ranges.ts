import { day, minute, type Instant } from "../../../kernel/clock.ts";
import type { Reader, Tx } from "../../database/database.ts";
import { integer, json, table, text, time, type RowOf } from "../../database/schema/table.ts";
import type { KnownBlock } from "./network-state.ts";

/** A pass over every block of a range. */
export interface Reading {
  /** The provider's origin, as operators see it; empty in rows that earlier versions stored. */
  readonly provider: string;
  /** The time at which the last of the blocks was read. */
  readonly at: Instant;
}

/** A range of blocks of one chain that the same providers read, in the same order. */
export interface ReadingRow {
  readonly fromHeight: number;
  /** The hash of the block before the first; null if unknown. */
  readonly parentHash: string | null;
  readonly toHeight: number;
  readonly toHash: string;
  readonly readings: readonly Reading[];
  readonly openedAt: Instant;
}

/** A range that was read: the blocks after `parent`, up to and including `to`. */
export interface ScannedRange {
  readonly parent: { readonly height: number; readonly hash: string | null };
  readonly to: KnownBlock;
}

/** The number of newest readings that are kept of a range. */
const readingsMax = 10;
/**
 * Ranges that were opened within this time are joined after their second reading, so that they are read together from
 * then on.
 */
const joinedSpanMs = 10 * minute;
/** Ranges that were last read longer ago than this are joined without a limit on length. */
const joinedAgeMs = day;
/**
 * The largest number of separate ranges of a network. Beyond it, the lowest are joined regardless of their readings.
 */
const rowsMax = 1_000;

/**
 * Returns the rows (lowest first) after one more reading of a range. Splits rows at the ends of the range, and adds
 * rows for blocks that no row contained. If a row has another block where the range begins or ends, it belongs to
 * another chain, and the reading replaces the row.
 */
export function withReading<Row extends ReadingRow>(
  rows: readonly Row[],
  { parent, to }: ScannedRange,
  reading: Reading,
): (Row | ReadingRow)[] {
  const after: (Row | ReadingRow)[] = [];
  const above: Row[] = [];
  const isReplaced = rows.some((row) => isContradicted(row, { parent, to }));
  let next = parent.height + 1;
  let nextParent = parent.hash;
  const fill = (toHeight: number, toHash: string) => {
    const range = { fromHeight: next, parentHash: nextParent, toHeight, toHash };
    if (toHeight >= next) after.push({ ...range, readings: [reading], openedAt: reading.at });
  };
  for (const row of rows) {
    const isBelow = row.toHeight <= parent.height;
    const isAbove = row.fromHeight > to.height;
    const isNext = isReplaced && row.fromHeight === to.height + 1;
    if (isBelow) after.push(row);
    if (isAbove) above.push(isNext ? { ...row, parentHash: to.hash } : row);
    if (isBelow || isAbove) continue;
    const isSplitBelow = row.fromHeight <= parent.height;
    const isSplitAbove = row.toHeight > to.height;
    if (isSplitBelow) {
      after.push({ ...row, toHeight: parent.height, toHash: parent.hash ?? "" });
    }
    if (isSplitAbove) above.push({ ...row, fromHeight: to.height + 1, parentHash: to.hash });
    if (isReplaced) continue;
    fill(row.fromHeight - 1, row.parentHash ?? "");
    const readings = [...row.readings, reading].slice(-readingsMax);
    const start = isSplitBelow ? { fromHeight: next, parentHash: parent.hash } : {};
    const end = isSplitAbove ? { toHeight: to.height, toHash: to.hash } : {};
    after.push({ ...row, ...start, ...end, readings });
    next = Math.min(row.toHeight, to.height) + 1;
    nextParent = isSplitAbove ? to.hash : row.toHash;
  }
  fill(to.height, to.hash);
  return [...after, ...above];
}

/** True if the range and the row have different blocks where one of their ends coincides. */
export function isContradicted(
  row: Pick<ReadingRow, "fromHeight" | "parentHash" | "toHeight" | "toHash">,
  { parent, to }: ScannedRange,
): boolean {
  const isOtherStart =
    row.fromHeight === parent.height + 1 && row.parentHash !== null && parent.hash !== null;
  return (
    (row.toHeight === to.height && row.toHash !== "" && row.toHash !== to.hash) ||
    (isOtherStart && row.parentHash !== parent.hash)
  );
}

/**
 * Joins adjacent rows (lowest first) of one chain and of the same providers if their next reading is due together, or
 * they are complete. If too many rows remain, because a provider's limits delay the later readings, the lowest rows are
 * joined as well; a joined row keeps the readings of the row with the fewest.
 */
export function joinRows(rows: readonly ReadingRow[], at: Instant): ReadingRow[] {
  const joined = joinWhere(rows, (below, row) => isJoined(below, row, at));
  let surplus = joined.length - rowsMax;
  if (surplus <= 0) return joined;
  return joinWhere(joined, (below, row) => {
    const isJoinedToo = surplus > 0 && isNeighbor(below, row);
    if (isJoinedToo) surplus -= 1;
    return isJoinedToo;
  });
}

function joinWhere(
  rows: readonly ReadingRow[],
  isWanted: (below: ReadingRow, row: ReadingRow) => boolean,
): ReadingRow[] {
  const joined: ReadingRow[] = [];
  for (const row of rows) {
    const below = joined.at(-1);
    if (below === undefined || !isWanted(below, row)) {
      joined.push(row);
      continue;
    }
    const [fewer, more] =
      below.readings.length <= row.readings.length ? [below, row] : [row, below];
    joined[joined.length - 1] = {
      ...below,
      toHeight: row.toHeight,
      toHash: row.toHash,
      openedAt: Math.min(below.openedAt, row.openedAt),
      readings: fewer.readings.map((each, index) => ({
        ...each,
        at: Math.max(each.at, more.readings[index]?.at ?? 0),
      })),
    };
  }
  return joined;
}

function isNeighbor(below: ReadingRow, row: ReadingRow): boolean {
  return below.toHeight + 1 === row.fromHeight && below.toHash === row.parentHash;
}

function isJoined(below: ReadingRow, row: ReadingRow, at: Instant): boolean {
  const providers = (one: ReadingRow) => one.readings.map(({ provider }) => provider).join(" ");
  if (!isNeighbor(below, row) || providers(below) !== providers(row)) return false;
  const isOld = [below, row].every((one) => at - lastReadAt(one) > joinedAgeMs);
  const isOfOneTime = Math.abs(row.openedAt - below.openedAt) < joinedSpanMs;
  return isOld || (row.readings.length > 1 && isOfOneTime);
}

/** Returns the time at which a range was last read. */
export function lastReadAt({ readings, openedAt }: ReadingRow): Instant {
  return readings.reduce((last, { at }) => Math.max(last, at), openedAt);
}

/** Blocks that were read without a gap on one chain, regardless of the number of readings. */
export type ReadRange = Omit<ReadingRow, "readings" | "openedAt"> & { readonly readAt: Instant };

/** Joins the rows (lowest first) into contiguous ranges. */
export function contiguousRanges(rows: readonly ReadingRow[]): ReadRange[] {
  const ranges: ReadRange[] = [];
  for (const row of rows) {
    const { fromHeight, parentHash, toHeight, toHash } = row;
    const readAt = lastReadAt(row);
    const below = ranges.at(-1);
    if (below !== undefined && below.toHeight + 1 === fromHeight && isOneChain(below, row)) {
      const last = Math.max(below.readAt, readAt);
      ranges[ranges.length - 1] = { ...below, toHeight, toHash, readAt: last };
    } else ranges.push({ fromHeight, parentHash, toHeight, toHash, readAt });
  }
  return ranges;
}

type Edges = Pick<ReadingRow, "fromHeight" | "parentHash" | "toHeight" | "toHash">;

/** True unless the ranges are adjacent and disagree about the block at their border. */
function isOneChain(below: Edges, above: Edges): boolean {
  if (below.toHeight + 1 !== above.fromHeight) return true;
  return above.parentHash === null || above.parentHash === below.toHash;
}

/** Blocks between two heights that no range contains. */
interface Gap {
  readonly from: number;
  readonly to: number;
}

/** A height at which adjacent ranges belong to different chains. */
interface Seam {
  readonly height: number;
}

/** Returns the parts of a range that are in none of the others, the lowest first. */
export function without({ from, to }: Gap, others: readonly Gap[]): Gap[] {
  const parts: Gap[] = [];
  let next = from;
  for (const other of [...others].sort((one, another) => one.from - another.from)) {
    if (other.to < next || other.from > to) continue;
    if (other.from > next) parts.push({ from: next, to: other.from - 1 });
    next = other.to + 1;
  }
  if (next <= to) parts.push({ from: next, to });
  return parts;
}

/** Returns the parts of rows outside of some ranges. The hashes at new ends are unknown. */
export function rowsOutside<Row extends ReadingRow>(
  rows: readonly Row[],
  ranges: readonly Gap[],
): Row[] {
  if (ranges.length === 0) return [...rows];
  return rows.flatMap((row) =>
    without({ from: row.fromHeight, to: row.toHeight }, ranges).map(({ from, to }) => ({
      ...row,
      fromHeight: from,
      parentHash: from === row.fromHeight ? row.parentHash : null,
      toHeight: to,
      toHash: to === row.toHeight ? row.toHash : "",
    })),
  );
}

/** Returns the newest block up to a height whose hash the rows hold; null without one. */
export function knownBlockUpTo(rows: readonly ReadingRow[], height: number): KnownBlock | null {
  const known = rows.flatMap(({ fromHeight, parentHash, toHeight, toHash }) => [
    { height: fromHeight - 1, hash: parentHash ?? "" },
    { height: toHeight, hash: toHash },
  ]);
  return known
    .filter((block) => block.hash !== "" && block.height <= height)
    .reduce<KnownBlock | null>(
      (newest, block) => (newest !== null && newest.height >= block.height ? newest : block),
      null,
    );
}

/** Returns true if no provider has read a range, or every one that did has failed a probe since. */
export function isUnread({ readings }: Pick<ReadingRow, "readings">): boolean {
  return readings.length === 0;
}

export interface Coverage {
  readonly gaps: readonly Gap[];
  readonly seams: readonly Seam[];
}

/** Returns the unread blocks between two heights, both included, and the seams between the ranges (lowest first). */
export function coverageOf(rows: readonly Edges[], from: number, to: number): Coverage {
  const gaps: Gap[] = [];
  const seams: Seam[] = [];
  let next = from;
  let before: Edges | null = null;
  for (const row of rows) {
    if (row.toHeight < from || row.fromHeight > to) continue;
    if (row.fromHeight > next) gaps.push({ from: next, to: row.fromHeight - 1 });
    if (before !== null && !isOneChain(before, row)) seams.push({ height: before.toHeight });
    next = Math.max(next, row.toHeight + 1);
    before = row;
  }
  if (next <= to) gaps.push({ from: next, to });
  return { gaps, seams };
}

/** A provider's refusal to read a range of blocks while it reads newer ones. */
export interface Refusal {
  readonly provider: string;
  /** The time of the first and of the last of its refusals. */
  readonly since: Instant;
  readonly at: Instant;
  /** In the provider's words, when it first refused. */
  readonly reason: string;
}

/** Ranges of final blocks that providers refuse to read, such as blocks whose logs they have pruned. */
const gapTable = table(
  "network_gaps",
  {
    network: text(),
    fromHeight: integer(),
    toHeight: integer(),
    refusals: json<readonly Refusal[]>(),
    /** When an operator accepted that the range stays unread, and why; null until then. */
    acceptedAt: time().nullable(),
    acceptedReason: text().nullable(),
  },
  { primaryKey: ["network", "fromHeight"] },
);

export type GapRow = RowOf<typeof gapTable>;

/** Returns the gaps of a network, the lowest first. */
export function gapsOf(reader: Reader, network: string): Promise<GapRow[]> {
  return reader.find(gapTable, "WHERE network = $1 ORDER BY from_height", [network]);
}

/** Returns the ranges that an operator accepted as unread. */
export async function acceptedRanges(reader: Reader, network: string): Promise<Gap[]> {
  const gaps = await gapsOf(reader, network);
  return gaps.filter(({ acceptedAt }) => acceptedAt !== null).map(rangeOfGap);
}

export function rangeOfGap({ fromHeight: from, toHeight: to }: GapRow): Gap {
  return { from, to };
}

/** Stores that providers refuse a range. A range that an operator accepted stays accepted. */
export async function noteRefusals(
  tx: Tx,
  network: string,
  range: Gap,
  refusals: readonly Pick<Refusal, "provider" | "reason">[],
  at: Instant,
): Promise<void> {
  const fresh = refusals.map((refusal): Refusal => ({ ...refusal, since: at, at }));
  const before = await lockGaps(tx, network, range);
  const known = before.map(rangeOfGap);
  const added = without(range, known).map((part): GapRow => ({
    ...heightsOf(part),
    network,
    refusals: fresh,
    acceptedAt: null,
    acceptedReason: null,
  }));
  const renewed = before.flatMap((row) =>
    split(row, range, (part) => ({ ...part, refusals: merged(part.refusals, fresh) })),
  );
  await replaceGaps(tx, before, joined([...renewed, ...added]));
}

function merged(before: readonly Refusal[], fresh: readonly Refusal[]): readonly Refusal[] {
  const byProvider = new Map(before.map((refusal) => [refusal.provider, refusal]));
  for (const refusal of fresh) {
    const known = byProvider.get(refusal.provider);
    byProvider.set(refusal.provider, known === undefined ? refusal : { ...known, at: refusal.at });
  }
  return [...byProvider.values()];
}

/** Removes a provider's refusal of a range, which it may read again. */
export async function withdrawRefusal(
  tx: Tx,
  network: string,
  range: Gap,
  provider: string,
): Promise<void> {
  const before = await lockGaps(tx, network, range);
  const after = before.flatMap((row) =>
    split(row, range, (part) => ({
      ...part,
      refusals: part.refusals.filter((refusal) => refusal.provider !== provider),
    })),
  );
  await replaceGaps(tx, before, after);
}

/** Removes a range that was read from the gaps. */
export async function fillGaps(tx: Tx, network: string, range: Gap): Promise<void> {
  const before = await lockGaps(tx, network, range);
  const after = before.flatMap((row) => split(row, range, () => null));
  await replaceGaps(tx, before, after);
}

/** Accepts that the gaps in a range stay unread. */
export async function acceptGaps(
  tx: Tx,
  network: string,
  range: Gap,
  { at, reason }: { readonly at: Instant; readonly reason: string },
): Promise<void> {
  const before = await lockGaps(tx, network, range);
  const after = before.flatMap((row) =>
    split(row, range, (part) =>
      part.acceptedAt === null ? { ...part, acceptedAt: at, acceptedReason: reason } : part,
    ),
  );
  await replaceGaps(tx, before, after);
}

/** Locks and returns the gaps that overlap a range or are adjacent to it, the lowest first. */
export function lockGaps(tx: Tx, network: string, { from, to }: Gap): Promise<GapRow[]> {
  return tx.lock(
    gapTable,
    "WHERE network = $1 AND to_height >= $2 AND from_height <= $3 ORDER BY from_height",
    [network, from - 1, to + 1],
  );
}

/** Splits a row at the ends of a range, and changes the part inside; null drops it. */
function split(row: GapRow, range: Gap, change: (inside: GapRow) => GapRow | null): GapRow[] {
  const own = rangeOfGap(row);
  const outside = without(own, [range]);
  const inside = without(own, outside);
  return [
    ...outside.map((part) => ({ ...row, ...heightsOf(part) })),
    ...inside.flatMap((part) => change({ ...row, ...heightsOf(part) }) ?? []),
  ].sort((one, other) => one.fromHeight - other.fromHeight);
}

function heightsOf({ from, to }: Gap): Pick<GapRow, "fromHeight" | "toHeight"> {
  return { fromHeight: from, toHeight: to };
}

/** Joins adjacent gaps that no operator accepted and that the same providers refuse. */
function joined(rows: readonly GapRow[]): GapRow[] {
  const names = ({ refusals }: GapRow) =>
    refusals
      .map(({ provider }) => provider)
      .sort()
      .join(" ");
  const after: GapRow[] = [];
  for (const row of [...rows].sort((one, other) => one.fromHeight - other.fromHeight)) {
    const below = after.at(-1);
    const isJoined =
      below?.acceptedAt === null &&
      row.acceptedAt === null &&
      below.toHeight + 1 === row.fromHeight &&
      names(below) === names(row);
    if (below === undefined || !isJoined) {
      after.push(row);
      continue;
    }
    const refusals = below.refusals.map((refusal) => {
      const above = row.refusals.find(({ provider }) => provider === refusal.provider) ?? refusal;
      const since = Math.max(refusal.since, above.since);
      return { ...refusal, since, at: Math.min(refusal.at, above.at) };
    });
    after[after.length - 1] = { ...below, toHeight: row.toHeight, refusals };
  }
  return after;
}

async function replaceGaps(
  tx: Tx,
  before: readonly GapRow[],
  after: readonly GapRow[],
): Promise<void> {
  await tx.deleteMany(
    gapTable,
    before.map(({ network, fromHeight }) => ({ network, fromHeight })),
  );
  await tx.insertMany(gapTable, after);
}
