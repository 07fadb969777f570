import type { Instant } from "../../../kernel/clock.ts";
import { integer, json, table, text, time, type RowOf } from "../../database/schema/table.ts";
import type { Reader, Tx } from "../../database/database.ts";
import { without, type Gap } from "./reading-ranges.ts";

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
export const gapTable = table(
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
    ...placed(part),
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
    ...outside.map((part) => ({ ...row, ...placed(part) })),
    ...inside.flatMap((part) => change({ ...row, ...placed(part) }) ?? []),
  ].sort((one, other) => one.fromHeight - other.fromHeight);
}

function placed({ from, to }: Gap): Pick<GapRow, "fromHeight" | "toHeight"> {
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
