import type { Instant } from "../../kernel/clock.ts";
import { integer, table, text, time, type Reader, type RowOf, type Tx } from "../database/index.ts";
import type { KnownBlock } from "./state.ts";

/**
 * The ranges of blocks whose transfers were read, contiguous ones as one row. `watched`: by the watcher; `witnessed`:
 * compared with a second provider.
 */
export const scanTable = table(
  "network_scans",
  {
    network: text(),
    kind: text<ScanKind>(),
    /** The first block that was read. */
    fromHeight: integer(),
    /** Of the block before the first: where two ranges meet, it tells whether they are of one chain. */
    parentHash: text().nullable(),
    toHeight: integer(),
    toHash: text(),
    readAt: time(),
  },
  { primaryKey: ["network", "kind", "fromHeight"] },
);

export type ScanKind = "watched" | "witnessed";
export type ScanRow = RowOf<typeof scanTable>;

/** A range that was read: every block after `parent` up to `to`. */
export interface ScannedRange {
  readonly parent: { readonly height: number; readonly hash: string | null };
  readonly to: KnownBlock;
}

export function scansOf(reader: Reader, network: string, kind: ScanKind): Promise<ScanRow[]> {
  return reader.find(scanTable, "WHERE network = $1 AND kind = $2 ORDER BY from_height", [
    network,
    kind,
  ]);
}

/** Forgets that blocks above a height were read, by whomever: the chain has others there. */
export async function cutScans(tx: Tx, network: string, base: KnownBlock): Promise<void> {
  await tx.run("DELETE FROM network_scans WHERE network = $1 AND from_height > $2", [
    network,
    base.height,
  ]);
  await tx.run(
    "UPDATE network_scans SET to_height = $2, to_hash = $3 WHERE network = $1 AND to_height > $2",
    [network, base.height, base.hash],
  );
}

/**
 * The watcher's range: it goes on where one ends with the hash of its parent, and what that one knew above its beginning is forgotten, as a
 * reorganisation may have replaced it. Where none is there that it goes on from, it is a row of its own.
 */
export async function extendScan(
  tx: Tx,
  network: string,
  { parent, to }: ScannedRange,
  at: Instant,
): Promise<void> {
  if (to.height <= parent.height) return;
  const extended = await tx.run(
    `UPDATE network_scans SET to_height = $1, to_hash = $2, read_at = $3
     WHERE network = $4 AND kind = 'watched' AND from_height <= $5
       AND (to_height > $6 OR (to_height = $6 AND to_hash = $7))`,
    [to.height, to.hash, at, network, parent.height + 1, parent.height, parent.hash],
  );
  if (extended > 0) return;
  await addScan(tx, network, "watched", { parent, to }, at);
}

/** Adds a range, and makes one row of it and those that it overlaps or meets. */
export async function addScan(
  tx: Tx,
  network: string,
  kind: ScanKind,
  { parent, to }: ScannedRange,
  at: Instant,
): Promise<void> {
  const touching = await tx.lock(
    scanTable,
    "WHERE network = $1 AND kind = $2 AND from_height <= $3 AND to_height >= $4 ORDER BY from_height",
    [network, kind, to.height + 1, parent.height],
  );
  let merged: ScanRow = {
    ...{ network, kind, readAt: at },
    ...{ fromHeight: parent.height + 1, parentHash: parent.hash },
    ...{ toHeight: to.height, toHash: to.hash },
  };
  for (const row of touching) {
    if (!isOneChain(row, merged)) continue;
    await tx.run(
      "DELETE FROM network_scans WHERE network = $1 AND kind = $2 AND from_height = $3",
      [...[network, kind], row.fromHeight],
    );
    if (row.fromHeight <= merged.fromHeight) {
      const { fromHeight, parentHash } = row;
      merged = { ...merged, fromHeight, parentHash };
    }
    if (row.toHeight > merged.toHeight) {
      const { toHeight, toHash } = row;
      merged = { ...merged, toHeight, toHash };
    }
  }
  await tx.insertIfAbsent(scanTable, merged);
}

/** Ranges that meet exactly must agree about the block where they do. */
function isOneChain(one: ScanRow, other: ScanRow): boolean {
  const [first, second] = one.fromHeight <= other.fromHeight ? [one, other] : [other, one];
  if (first.toHeight + 1 !== second.fromHeight) return true;
  return second.parentHash === null || second.parentHash === first.toHash;
}

/** Blocks between two heights that no range holds. */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

/** A place where ranges meet that are not of one chain. */
export interface Seam {
  readonly height: number;
}

export interface Coverage {
  readonly gaps: readonly Gap[];
  readonly seams: readonly Seam[];
}

/** What of the blocks from one height to another, both included, the ranges (lowest first) leave unread. */
export function coverageOf(rows: readonly ScanRow[], from: number, to: number): Coverage {
  const gaps: Gap[] = [];
  const seams: Seam[] = [];
  let next = from;
  let before: ScanRow | null = null;
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
