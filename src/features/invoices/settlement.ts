import type { Instant } from "../../kernel/clock.ts";
import { Defect } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { deadlineTime, type NetworkState } from "../../platform/chain/state.ts";
import { formatTransactionHash } from "../../platform/chain/transaction-hash.ts";
import type { Database, Tx } from "../../platform/database/index.ts";
import { meterInvoice } from "../usage/index.ts";
import { raisePaidIndexes } from "../wallets/index.ts";
import { systemContext } from "../../platform/database/system-context.ts";
import { announce, type AnnouncerDependencies } from "./announce.ts";
import { forgetWarnings } from "./capacity-watch.ts";
import { hasEndedHolds, releaseHolds } from "./hold-matching.ts";
import { payableTerms, statusTerms, storedTotals, type PayableTerms } from "./payable.ts";
import { viewOf } from "./present.ts";
import { remainingAmount, type RemainingDependencies } from "./remaining.ts";
import { changesBetween, standingOf, type PaymentTotals } from "./rules.ts";
import {
  dueInvoices,
  expiredTooEarly,
  lockInvoices,
  saveStandings,
  type InvoiceRow,
} from "./store.ts";

/** How many invoices expire in one transaction. */
const sweepMax = 500;

const sweepContext = systemContext("deadlines");

export interface SettlementDependencies extends AnnouncerDependencies, RemainingDependencies {
  /** Where payers find this instance, without a slash at the end. */
  readonly baseUrl: () => string;
  /**
   * Told inside the transaction that changed them of the invoices that somebody manages, as they are now. Filled by
   * compose, since who manages invoices stands behind them.
   */
  readonly managedSettled: (tx: Tx, rows: readonly InvoiceRow[], at: Instant) => Promise<void>;
}

/** What payments ask of invoices, inside their own transactions. */
export interface Settlement {
  /** Locks issued invoices in the order of their ids and gives what they ask for; drafts are not in the answer. */
  lockTerms(
    tx: Tx,
    invoiceIds: readonly Id<"invoice">[],
  ): Promise<Map<Id<"invoice">, PayableTerms>>;
  /**
   * Stores the totals of invoices whose payments, tip or deadline changed, with the status and exception that follow
   * from them, holds amounts that remain to be paid, and tells of each change. One call for a batch.
   */
  settleInvoices(
    tx: Tx,
    network: string,
    totals: ReadonlyMap<Id<"invoice">, PaymentTotals>,
    state: NetworkState,
    at: Instant,
  ): Promise<void>;
  /**
   * Expires invoices whose deadline the newest scanned block has passed, opens those again that a wrong time expired, and
   * releases holds whose time is over: a bounded batch. Gives how many there were; 0 when nothing is due. `finalTime`
   * gives the time of the newest final block, null while nobody is sure of it, and is asked where a hold may have ended.
   */
  sweepDeadlines(
    db: Database,
    network: string,
    state: NetworkState,
    at: Instant,
    finalTime: () => Promise<Instant | null>,
  ): Promise<number>;
}

export function makeSettlement(deps: SettlementDependencies): Settlement {
  async function settle(
    tx: Tx,
    rows: readonly InvoiceRow[],
    totalsOf: (row: InvoiceRow) => PaymentTotals,
    state: NetworkState,
    at: Instant,
  ): Promise<void> {
    const saved: InvoiceRow[] = [];
    for (const before of rows) {
      const totals = totalsOf(before);
      const after = await settled(tx, deps, before, totals, state, at);
      if (after === null) continue;
      saved.push(after);
      meterInvoice(tx, deps.ids, at, before, after);
      tell(tx, deps, before, after, state, at);
    }
    await saveStandings(tx, saved);
    const managed = saved.filter(({ managedBy }) => managedBy !== null);
    if (managed.length > 0) await deps.managedSettled(tx, managed, at);
    // Last: whoever issues at the wallet meanwhile has locked its key after their own invoices.
    await raisePaidIndexes(tx, paidIndexes(rows, saved));
  }

  return {
    async lockTerms(tx, invoiceIds) {
      const rows = await lockInvoices(tx, invoiceIds);
      return new Map(
        rows.flatMap((row) => {
          const terms = payableTerms(row);
          return terms === null ? [] : [[row.id, terms] as const];
        }),
      );
    },

    async settleInvoices(tx, network, totals, state, at) {
      const rows = await lockInvoices(tx, [...totals.keys()]);
      const totalsOf = (row: InvoiceRow) => {
        const found = totals.get(row.id);
        if (found === undefined || row.network !== network) {
          throw new Defect(`${row.id} was settled by payments that are not its own`);
        }
        return found;
      };
      await settle(tx, rows, totalsOf, state, at);
    },

    async sweepDeadlines(db, network, state, at, finalTime) {
      const time = deadlineTime(state, at);
      const due = await dueInvoices(db, network, time, sweepMax);
      // While the chain is caught up with, its time goes on by itself.
      const isAtHead = state.tipHeight >= state.headHeight;
      const tooEarly = isAtHead ? await expiredTooEarly(db, network, time, sweepMax) : [];
      const releaseBy = await releaseTime(db, network, state, at, finalTime);
      if (due.length + tooEarly.length === 0 && releaseBy === null) return 0;
      return db.write(sweepContext, async (tx) => {
        const rows = await lockInvoices(tx, [...due, ...tooEarly].sort());
        await settle(tx, rows, storedTotals, state, at);
        const released = releaseBy === null ? 0 : await releaseHolds(tx, network, releaseBy, at);
        if (released > 0) await forgetWarnings(tx, network);
        return rows.length + released;
      });
    },
  };
}

/** By when holds must have ended to be released; null where none has, or nobody is sure of the final block's time. */
async function releaseTime(
  db: Database,
  network: string,
  { cursorTime }: NetworkState,
  at: Instant,
  finalTime: () => Promise<Instant | null>,
): Promise<Instant | null> {
  if (!(await hasEndedHolds(db, network, Math.min(cursorTime, at)))) return null;
  const agreed = await finalTime();
  if (agreed === null) return null;
  const by = Math.min(agreed, at);
  return (await hasEndedHolds(db, network, by)) ? by : null;
}

/** The invoice after its totals became these; null where nothing about it changes. */
async function settled(
  tx: Tx,
  deps: SettlementDependencies,
  before: InvoiceRow,
  totals: PaymentTotals,
  state: NetworkState,
  at: Instant,
): Promise<InvoiceRow | null> {
  const askedAmount = askedUntilNow(before);
  const terms = statusTerms({ ...before, askedAmount });
  const standing = standingOf(terms, totals, deadlineTime(state, at));
  const after: InvoiceRow = {
    ...before,
    ...standing,
    askedAmount,
    seenAmount: totals.seen,
    confirmedAmount: totals.confirmed,
    isLate: totals.isLate,
    isReverted: totals.isReverted,
    latestBlock: totals.latestBlock,
    completedAt: totals.completedAt,
    transactionHashes: shownHashes(deps, before, totals),
  };
  if (stands(before, after)) return null;
  return {
    ...after,
    remainingAmount: await remainingAmount(tx, deps, before, after, at),
    version: before.version + 1,
    updatedAt: at,
  };
}

/**
 * The `askedAmount` of an invoice at its next change. It never shrinks: a part that a reorganisation takes away and
 * brings back leaves the payer with what they were asked for.
 */
function askedUntilNow({
  payableAmount,
  askedAmount,
  remainingAmount,
  seenAmount,
}: InvoiceRow): bigint | null {
  if (payableAmount === null || remainingAmount === null || remainingAmount === 0n) {
    return askedAmount;
  }
  const total = seenAmount + remainingAmount;
  return total > (askedAmount ?? payableAmount) ? total : askedAmount;
}

const derivedColumns = [
  "status",
  "exception",
  "seenAmount",
  "confirmedAmount",
  "isLate",
  "isReverted",
  "latestBlock",
  "completedAt",
  "paidAt",
] as const;

function stands(before: InvoiceRow, after: InvoiceRow): boolean {
  return (
    derivedColumns.every((column) => before[column] === after[column]) &&
    before.transactionHashes.join() === after.transactionHashes.join()
  );
}

/** The hashes of the totals as the network's explorers write them. */
function shownHashes(
  { networks }: SettlementDependencies,
  { network }: InvoiceRow,
  { transactionHashes }: PaymentTotals,
): readonly string[] {
  if (transactionHashes.length === 0) return [];
  const form = networks.get(network)?.addressForm;
  if (form === undefined) throw new Defect(`the network ${network} is not configured`);
  return transactionHashes.map((hash) => formatTransactionHash(form, hash));
}

function tell(
  tx: Tx,
  deps: SettlementDependencies,
  before: InvoiceRow,
  after: InvoiceRow,
  state: NetworkState,
  at: Instant,
): void {
  const types = changesBetween(
    { ...before, seen: before.seenAmount },
    { ...after, seen: after.seenAmount },
  );
  if (types.length === 0) return;
  const seen = [before.seenAmount, after.seenAmount].map(String);
  const fields = {
    status: { from: before.status, to: after.status },
    exception: { from: before.exception, to: after.exception },
    paidTokenUnits: { from: seen[0], to: seen[1] },
  };
  const changes = Object.fromEntries(
    Object.entries(fields).filter(([, { from, to }]) => from !== to),
  );
  const view = viewOf(after, deps.baseUrl(), state.tipHeight);
  announce(deps, tx, at, { types, previousStatus: before.status, changes }, view);
}

/** How far the addresses of wallets of extended keys were paid. */
function paidIndexes(
  before: readonly InvoiceRow[],
  after: readonly InvoiceRow[],
): ReadonlyMap<Id<"wallet">, number> {
  const unpaid = new Set(before.filter((row) => row.seenAmount === 0n).map(({ id }) => id));
  const highest = new Map<Id<"wallet">, number>();
  for (const { id, walletId, addressIndex, seenAmount } of after) {
    if (walletId === null || addressIndex === null) continue;
    if (seenAmount === 0n || !unpaid.has(id)) continue;
    highest.set(walletId, Math.max(addressIndex, highest.get(walletId) ?? 0));
  }
  return highest;
}
