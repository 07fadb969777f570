import { minute, type Instant } from "../../../kernel/clock.ts";
import { integer, json, table, text, time, type RowOf } from "../../database/schema/table.ts";
import type { Reader, Tx } from "../../database/database.ts";
import {
  fillGaps,
  joinRows,
  withReading,
  type Reading,
  type ReadingRow,
  type ScannedRange,
} from "./reading-ranges.ts";

/** The readings of each range of blocks, with their providers. Ranges do not overlap. */
export const readingTable = table(
  "network_readings",
  {
    network: text(),
    fromHeight: integer(),
    /** The hash of the block before the first. It shows whether the range below belongs to the same chain. */
    parentHash: text().nullable(),
    toHeight: integer(),
    toHash: text(),
    /**
     * The watcher's reading, then the later ones. Empty if every provider that read the range has failed a probe since.
     */
    readings: json<readonly Reading[]>(),
    /** The time at which the watcher read the first of the blocks. */
    openedAt: time(),
  },
  { primaryKey: ["network", "fromHeight"] },
);

/** The provider of readings that earlier versions stored without one. */
export const unknownProvider = "";

/** Time for which the watcher extends one row. The later readings of the next row are due after those of this one. */
const rowSpanMs = 2 * minute;

/** Returns all ranges of a network that were read, the lowest first. */
export function readingsOf(reader: Reader, network: string): Promise<StoredReading[]> {
  return reader.find(readingTable, "WHERE network = $1 ORDER BY from_height", [network]);
}

type StoredReading = RowOf<typeof readingTable>;

/**
 * Stores a reading of the watcher above a block that it knew. Discards all earlier readings above that block, even of
 * final blocks, because a reorganization may have replaced them.
 */
export async function extendReadings(
  tx: Tx,
  network: string,
  { parent, to }: ScannedRange,
  reading: Reading,
): Promise<void> {
  if (to.height <= parent.height) return;
  const touching = await lockFrom(tx, network, parent.height);
  const replaced = touching.filter(({ toHeight }) => toHeight > parent.height);
  const open = replaced.length === 0 ? touching.at(-1) : replaced[0];
  if (open !== undefined && replaced.length < 2 && isExtended(open, parent, reading)) {
    await tx.update(
      readingTable,
      { toHeight: to.height, toHash: to.hash, readings: [reading] },
      "WHERE network = $1 AND from_height = $2",
      [network, open.fromHeight],
    );
    return;
  }
  await replaceAbove(tx, network, replaced, { parent, to }, [reading], reading.at);
}

/** Stores that the blocks above a known one are unread. Discards earlier readings of them. */
export async function markUnread(
  tx: Tx,
  network: string,
  range: ScannedRange,
  at: Instant,
): Promise<void> {
  const touching = await lockFrom(tx, network, range.parent.height);
  const replaced = touching.filter(({ toHeight }) => toHeight > range.parent.height);
  await replaceAbove(tx, network, replaced, range, [], at);
}

function lockFrom(tx: Tx, network: string, height: number): Promise<StoredReading[]> {
  return tx.lock(readingTable, "WHERE network = $1 AND to_height >= $2 ORDER BY from_height", [
    network,
    height,
  ]);
}

/** Replaces rows above a block by one row. The part of a row up to the block stays. */
async function replaceAbove(
  tx: Tx,
  network: string,
  replaced: readonly StoredReading[],
  { parent, to }: ScannedRange,
  readings: readonly Reading[],
  openedAt: Instant,
): Promise<void> {
  const below = replaced
    .filter(({ fromHeight }) => fromHeight <= parent.height)
    .map((row) => ({ ...row, toHeight: parent.height, toHash: parent.hash ?? row.toHash }));
  const added = {
    network,
    openedAt,
    readings,
    fromHeight: parent.height + 1,
    parentHash: parent.hash,
    toHeight: to.height,
    toHash: to.hash,
  };
  await replaceRows(tx, network, replaced, [...below, added]);
}

/**
 * True if the watcher continues a row: only the watcher has read it, with the same provider, within a limited time. A
 * row that ends at the parent with another hash belongs to another chain.
 */
function isExtended(
  row: ReadingRow,
  parent: ScannedRange["parent"],
  { provider, at }: Reading,
): boolean {
  const [first, ...later] = row.readings;
  return (
    first?.provider === provider &&
    later.length === 0 &&
    row.fromHeight <= parent.height + 1 &&
    (row.toHeight > parent.height || row.toHash === parent.hash) &&
    Math.abs(at - row.openedAt) < rowSpanMs
  );
}

/** Adds a further reading of a range, or the first reading of blocks that no row contains. */
export async function addReading(
  tx: Tx,
  network: string,
  range: ScannedRange,
  reading: Reading,
): Promise<void> {
  const before = await tx.lock(readingTable, "WHERE network = $1 ORDER BY from_height", [network]);
  const after = joinRows(withReading(before, range, reading), reading.at);
  await replaceRows(
    tx,
    network,
    before,
    after.map((row) => ({ ...row, network })),
  );
  await fillGaps(tx, network, { from: range.parent.height + 1, to: range.to.height });
}

/**
 * Removes the readings of one provider after a time, in ranges that reach a height, so that they are read again.
 * Returns the number of ranges.
 */
export async function dropReadings(
  tx: Tx,
  network: string,
  { provider, after, fromHeight }: DroppedReadings,
): Promise<number> {
  const rows = await lockFrom(tx, network, fromHeight);
  const isDropped = (each: Reading) => each.provider === provider && each.at > after;
  const touched = rows.filter(({ readings }) => readings.some(isDropped));
  await replaceRows(
    tx,
    network,
    touched,
    touched.map((row) => ({ ...row, readings: row.readings.filter((each) => !isDropped(each)) })),
  );
  return touched.length;
}

interface DroppedReadings {
  readonly provider: string;
  readonly after: Instant;
  readonly fromHeight: number;
}

/** Deletes and inserts the rows in which the two lists differ. */
async function replaceRows(
  tx: Tx,
  network: string,
  before: readonly StoredReading[],
  after: readonly StoredReading[],
): Promise<void> {
  const unchanged = new Set(
    before.map(keyOf).filter((key) => after.some((row) => keyOf(row) === key)),
  );
  const gone = before.filter((row) => !unchanged.has(keyOf(row)));
  const added = after.filter((row) => !unchanged.has(keyOf(row)));
  await tx.deleteMany(
    readingTable,
    gone.map(({ fromHeight }) => ({ network, fromHeight })),
  );
  await tx.insertMany(readingTable, added);
}

function keyOf(row: StoredReading): string {
  return JSON.stringify(row);
}
