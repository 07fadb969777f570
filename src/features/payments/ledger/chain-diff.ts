import type { Instant } from "../../../kernel/clock.ts";
import {
  transferKey,
  type TransferIdentity,
  type TransferLog,
} from "../../../platform/chain/client.ts";
import type { TransferRow } from "../table.ts";

/** A range of blocks, both ends included. */
export interface BlockRange {
  readonly from: number;
  readonly to: number;
}

/** A log whose block's time is known. */
export interface TimedLog extends TransferLog {
  readonly blockTime: Instant;
  /** False if only one of several providers reported the time, which then makes no payment late. */
  readonly isTimeAgreed: boolean;
}

/** A stored transfer whose position on the chain changed, or whose time was corrected by agreement of providers. */
interface MovedTransfer<Log extends TransferLog = TransferLog> {
  readonly transfer: TransferRow;
  readonly log: Log;
}

/** The changes to the stored transfers that a scan requires. */
export interface WindowDifference<Log extends TransferLog = TransferLog> {
  readonly fresh: readonly Log[];
  readonly moved: readonly MovedTransfer<Log>[];
  readonly orphaned: readonly TransferRow[];
  /** Logs of transactions that are already final in another block: an honest chain cannot have them. */
  readonly contradicting: readonly TransferLog[];
}

/** A log as a provider listed it; its time may be agreed on by providers. */
type ComparedLog = TransferLog & { readonly isTimeAgreed?: boolean };

/**
 * Compares the stored transfers with every transfer that the chain has in a range. `stored` holds at least the
 * transfers that are seen and not final, and all transfers, in any status, of the found transactions.
 *
 * A reorganization may change the block of a transfer, which keeps its row: transfers are compared by their identity,
 * without the block and the log index.
 */
export function compareWindow<Log extends ComparedLog>(
  stored: readonly TransferRow[],
  found: readonly Log[],
  range: BlockRange,
): WindowDifference<Log> {
  const rowsOf = groupBy(stored, (row) => row.transactionHash);
  const logsOf = groupBy(found, (log) => log.transactionHash);
  const fresh: Log[] = [];
  const moved: MovedTransfer<Log>[] = [];
  const orphaned: TransferRow[] = [];
  const contradicting: TransferLog[] = [];

  for (const [transaction, logs] of logsOf) {
    const rows = rowsOf.get(transaction) ?? [];
    if (rows.some((row) => row.isFinal)) {
      contradicting.push(...logs);
      continue;
    }
    const pairing = pair(rows, logs);
    fresh.push(...pairing.logs);
    moved.push(...pairing.pairs.filter(hasMoved));
    // A transaction is in one block: if one of its transfers is found, its other transfers are found too or gone.
    orphaned.push(...pairing.rows.filter((row) => row.status === "seen"));
  }
  for (const row of stored) {
    const isRead = row.blockHeight >= range.from && row.blockHeight <= range.to;
    const isRevocable = row.status === "seen" && !row.isFinal;
    if (isRead && isRevocable && !logsOf.has(row.transactionHash)) orphaned.push(row);
  }
  return { fresh, moved, orphaned, contradicting };
}

/**
 * Compares a range that is read again with the stored transfers: unknown ones are new, orphaned ones return, and stored
 * ones stay, except that one moves if the watcher does not read its block any more: blocks that it passed over may have
 * been replaced before. No transfer is orphaned here, because an index can be incomplete.
 */
export function compareAgain<Log extends ComparedLog>(
  stored: readonly TransferRow[],
  found: readonly Log[],
  cursorHeight: number,
): WindowDifference<Log> {
  const rowsOf = groupBy(stored, (row) => row.transactionHash);
  const fresh: Log[] = [];
  const moved: MovedTransfer<Log>[] = [];
  const contradicting: TransferLog[] = [];
  for (const [transaction, logs] of groupBy(found, (log) => log.transactionHash)) {
    const rows = rowsOf.get(transaction) ?? [];
    const elsewhere = rows.find((row) => row.isFinal && row.blockHash !== logs[0]?.blockHash);
    if (elsewhere !== undefined) {
      contradicting.push(...logs);
      continue;
    }
    const pairing = pair(rows, logs);
    fresh.push(...pairing.logs);
    const hasReturned = ({ transfer: row, log }: MovedTransfer<Log>) =>
      row.status === "orphaned" ||
      (!row.isFinal && row.blockHeight <= cursorHeight && row.blockHash !== log.blockHash);
    moved.push(...pairing.pairs.filter(hasReturned));
  }
  return { fresh, moved, orphaned: [], contradicting };
}

/** Returns true if storing the difference would change nothing. */
export function isSame(difference: WindowDifference): boolean {
  const { fresh, moved, orphaned } = difference;
  return fresh.length === 0 && moved.length === 0 && orphaned.length === 0;
}

/**
 * Splits a difference into batches of at most `freshMax` new transfers; returns at least one batch. The first one
 * holds all moved and orphaned transfers, so that money is taken back before more is credited.
 */
export function batchesOf<Log extends TransferLog>(
  difference: WindowDifference<Log>,
  freshMax: number,
): WindowDifference<Log>[] {
  const { fresh } = difference;
  const batches = [{ ...difference, fresh: fresh.slice(0, freshMax) }];
  for (let start = freshMax; start < fresh.length; start += freshMax) {
    const part = fresh.slice(start, start + freshMax);
    batches.push({ fresh: part, moved: [], orphaned: [], contradicting: [] });
  }
  return batches;
}

interface Pairing<Log extends TransferLog> {
  readonly pairs: readonly MovedTransfer<Log>[];
  /** Rows and logs without a partner. */
  readonly rows: readonly TransferRow[];
  readonly logs: readonly Log[];
}

/** Pairs the rows and logs of one transaction by their identity. */
function pair<Log extends TransferLog>(
  rows: readonly TransferRow[],
  logs: readonly Log[],
): Pairing<Log> {
  const free = new Map(rows.map((row) => [transferKey(identityOf(row)), row]));
  const pairs: MovedTransfer<Log>[] = [];
  const unknown: Log[] = [];
  for (const log of logs.toSorted((one, other) => one.logIndex - other.logIndex)) {
    const key = transferKey(log);
    const transfer = free.get(key);
    if (transfer === undefined) unknown.push(log);
    else pairs.push({ transfer, log });
    free.delete(key);
  }
  return { pairs, rows: [...free.values()], logs: unknown };
}

/** Returns the identity of a stored transfer on its network. */
export function identityOf(row: TransferRow): TransferIdentity {
  const { transactionHash, contract, fromAddress: from, toAddress: to, amount, ordinal } = row;
  return { transactionHash, contract, from, to, amount, ordinal };
}

/** Returns a text for a transfer in its block. */
export function keyInBlock(log: TransferIdentity & Pick<TransferLog, "blockHash">): string {
  return `${transferKey(log)}:${log.blockHash}`;
}

/** Returns true if a log is that of a stored transfer of the same network, in whatever block. */
export function isSameTransfer(row: TransferRow, log: TransferIdentity): boolean {
  return transferKey(identityOf(row)) === transferKey(log);
}

function hasMoved({ transfer, log }: MovedTransfer<ComparedLog>): boolean {
  return (
    (log.isTimeAgreed === true && transfer.blockTime !== log.blockTime) ||
    transfer.status === "orphaned" ||
    transfer.blockHash !== log.blockHash ||
    transfer.blockHeight !== log.blockHeight
  );
}

/** Groups items by a key, and keeps their order. */
export function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const members = groups.get(key);
    if (members === undefined) groups.set(key, [item]);
    else members.push(item);
  }
  return groups;
}
