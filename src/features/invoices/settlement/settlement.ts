import type { App, InTx } from "../../../app.ts";
import type { Instant } from "../../../kernel/clock.ts";
import { assert } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import {
  deadlineTime,
  networkState,
  type NetworkState,
} from "../../../platform/chain/state/network-state.ts";
import { parseAnyTransactionHash } from "../../../platform/chain/kinds.ts";
import { notationOf, type Network } from "../../../platform/chain/networks.ts";
import { systemContext, type Database, type Tx } from "../../../platform/database/database.ts";
import { makeMeter } from "../../usage/meter.ts";
import { raisePaidIndexes } from "../../wallets/store.ts";
import { announceInvoice } from "../issuing/announce.ts";
import { forgetWarnings } from "../capacity/watch.ts";
import {
  askedUntilNow,
  columnsOf,
  followMoney,
  payableTerms,
  statusTerms,
  storedTotals,
  type LockedTerms,
} from "./terms-to-pay.ts";
import { isSameOption } from "../../organizations/checkout-policy.ts";
import { quotesOf } from "../options/quotes.ts";
import { hasEndedHolds, releaseHolds } from "../holds/matching.ts";
import { viewOf } from "../records.ts";
import { inReviewOf, owedOf, storedAside } from "./owed.ts";
import { remainingAmount } from "./remaining.ts";
import { changesBetween, invoiceStateOf, type Moment, type PaymentTotals } from "../rules.ts";
import {
  dueInvoices,
  expiredTooEarly,
  lockInvoices,
  saveStates,
  type InvoiceRow,
} from "../store.ts";

/** The largest number of invoices that one transaction expires, and of those that it reopens. */
const sweepMax = 500;

const sweepContext = systemContext("deadlines");

/** Locks issued invoices in the order of their ids and returns their payable terms. Drafts are left out. */
export async function lockTerms(
  tx: Tx,
  invoiceIds: readonly Id<"invoice">[],
): Promise<Map<Id<"invoice">, LockedTerms>> {
  const rows = await lockInvoices(tx, invoiceIds);
  return new Map(
    rows.flatMap((row) => {
      const terms = payableTerms(row);
      return terms === null ? [] : [[row.id, { ...terms, invoice: row }] as const];
    }),
  );
}

/**
 * Stores the totals of invoices whose payments changed, with the resulting status and exception. Holds the amounts that
 * remain to be paid, and emits the events of each change. One call handles a batch. `locked` are the terms of these
 * invoices, which this transaction has locked and not settled yet.
 */
export async function settleInvoices(
  tx: Tx,
  app: InTx,
  at: Instant,
  network: string,
  locked: ReadonlyMap<Id<"invoice">, LockedTerms>,
  totals: ReadonlyMap<Id<"invoice">, PaymentTotals>,
  state: NetworkState,
): Promise<void> {
  const rows = [...locked.values()].map(({ invoice }) => invoice);
  const totalsOf = (row: InvoiceRow) => {
    const paid = totals.get(row.id);
    assert(
      paid !== undefined && quotesOf(row).some((quote) => quote.network === network),
      `${row.id} was settled with payments that are not its own`,
    );
    return paid;
  };
  await settleRows(tx, app, rows, totalsOf, state, at);
}

/**
 * Expires invoices whose deadline is before the newest scanned block, reopens those that a wrong time expired, and
 * releases ended holds, in a bounded batch. Returns their number; 0 if nothing was due. `finalTime` returns the time of
 * the newest final block, or null while it is uncertain; it is only called if a hold may have ended.
 */
export async function sweepDeadlines(
  app: App,
  at: Instant,
  network: string,
  state: NetworkState,
  finalTime: () => Promise<Instant | null>,
): Promise<number> {
  const { db } = app;
  const time = deadlineTime(state, at);
  const due = await dueInvoices(db, network, time, sweepMax);
  // Once the watcher has caught up, the time of the tip advances without a write here.
  const isAtHead = state.tipHeight >= state.headHeight;
  const tooEarly = isAtHead ? await expiredTooEarly(db, network, time, sweepMax) : [];
  const releaseBy = await releaseTime(db, network, state, at, finalTime);
  const swept = [...due, ...tooEarly].sort();
  if (swept.length === 0 && releaseBy === null) return 0;
  return db.write(sweepContext, async (tx) => {
    const rows = await lockInvoices(tx, swept);
    await settleRows(tx, app, rows, storedTotals, state, at);
    /* c8 ignore next: the compiler demands a default, but a network that is read is known. */
    const family = app.networks.known.get(network)?.addressFamily ?? network;
    const released =
      releaseBy === null ? 0 : await releaseHolds(tx, network, family, releaseBy, at);
    if (released > 0) await forgetWarnings(tx, network);
    return rows.length + released;
  });
}

async function settleRows(
  tx: Tx,
  app: InTx,
  rows: readonly InvoiceRow[],
  totalsOf: (row: InvoiceRow) => PaymentTotals,
  state: NetworkState,
  at: Instant,
): Promise<void> {
  const saved: InvoiceRow[] = [];
  const meter = makeMeter(app.ids);
  const stateOf = statesIn(tx, state);
  // Comes before the holds of rests: an issue locks the subscription before it takes a hold.
  const counted = await countMoney(tx, app, rows, totalsOf, at);
  for (const before of rows) {
    const totals = totalsOf(before);
    const current = followMoney(counted(before), totals);
    const own = await stateOf(current.network);
    const after = await settledInvoice(tx, app, current, totals, own, at);
    if (after === null) continue;
    saved.push(after);
    meter.invoice(before, after);
    announceSettled(tx, app, current, after, own, at);
  }
  meter.append(tx, at);
  await saveStates(tx, saved);
  const managed = saved.filter(({ managedBy }) => managedBy !== null);
  if (managed.length > 0) await app.hooks.managedChanged(tx, app, at, managed);
  // Comes last to keep the order of locks: an issue at the wallet locks the wallet's key after its own invoices.
  await raisePaidIndexes(tx, paidIndexes(rows, saved));
}

/**
 * Counts the invoices of links whose money is first seen, and takes back those whose money a reorganization removed.
 * Returns a function that gives an invoice with its new count.
 */
async function countMoney(
  tx: Tx,
  app: InTx,
  rows: readonly InvoiceRow[],
  totalsOf: (row: InvoiceRow) => PaymentTotals,
  at: Instant,
): Promise<(row: InvoiceRow) => InvoiceRow> {
  const changed = rows.filter((row) => {
    if (row.startedAtLink === null) return false;
    const { seen, several, isReverted } = totalsOf(row);
    const hasMoney = seen > 0n || several?.quotes.some((quote) => quote.seen > 0n) === true;
    return row.countedAt === null ? hasMoney : !hasMoney && isReverted;
  });
  if (changed.length === 0) return (row) => row;
  const times = await app.hooks.countStarted(tx, at, changed);
  const countedAt = new Map(changed.map(({ id }, index) => [id, times[index] ?? null]));
  return (row) => {
    const time = countedAt.get(row.id);
    return time === undefined ? row : { ...row, countedAt: time };
  };
}

/** Returns the states of networks; an invoice may have another one in force than that on which a payment changed. */
function statesIn(tx: Tx, state: NetworkState): (network: string) => Promise<NetworkState> {
  const known = new Map([[state.network, state]]);
  return async (network) => {
    const found = known.get(network) ?? (await networkState(tx, network));
    assert(found !== null, `the network ${network} was never read`);
    known.set(network, found);
    return found;
  };
}

/**
 * Returns the time before which holds must have ended to be released; null if none has, or while the final block's time
 * is uncertain.
 */
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

/** Returns the invoice with these totals; null if nothing changes. */
async function settledInvoice(
  tx: Tx,
  app: InTx,
  before: InvoiceRow,
  totals: PaymentTotals,
  state: NetworkState,
  at: Instant,
): Promise<InvoiceRow | null> {
  const askedAmount = askedUntilNow(before);
  const terms = statusTerms({ ...before, askedAmount });
  const columns = columnsOf(before, totals);
  const sums = { ...totals, seen: columns.seenAmount, confirmed: columns.confirmedAmount };
  const invoiceState = invoiceStateOf(terms, sums, deadlineTime(state, at));
  const after: InvoiceRow = {
    ...before,
    ...invoiceState,
    ...columns,
    askedAmount,
    isLate: totals.isLate,
    isReverted: totals.isReverted,
    completedAt: totals.completedAt,
    transactionHashes: shownHashes(app.networks.known, before, totals),
    aside: storedAside(totals.aside),
  };
  if (isUnchanged(before, after)) return null;
  return {
    ...after,
    remainingAmount: await remainingAmount(tx, app, at, before, after),
    version: before.version + 1,
    updatedAt: at,
  };
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
  "paidAmount",
] as const;

function isUnchanged(before: InvoiceRow, after: InvoiceRow): boolean {
  return (
    derivedColumns.every((column) => before[column] === after[column]) &&
    areSumsUnchanged(before, after) &&
    before.transactionHashes.join() === after.transactionHashes.join() &&
    JSON.stringify(before.aside) === JSON.stringify(after.aside)
  );
}

/** Compares the sums of the options' payments. */
function areSumsUnchanged(before: InvoiceRow, after: InvoiceRow): boolean {
  if (before.paymentOptions === null) return true;
  const others = quotesOf(after);
  return quotesOf(before).every((one) => {
    const other = others.find((each) => isSameOption(each, one));
    return (
      other?.seen === one.seen &&
      other.confirmed === one.confirmed &&
      other.latestBlock === one.latestBlock
    );
  });
}

/** Formats the transaction hashes of the totals as the explorers of their networks do. */
function shownHashes(
  networks: ReadonlyMap<string, Network>,
  { network, transactionHashes: shown }: InvoiceRow,
  { transactionHashes, networkOf }: PaymentTotals,
): readonly string[] {
  return transactionHashes.map((hash) => {
    const known = shown.find((each) => parseAnyTransactionHash(each) === hash);
    if (known !== undefined) return known;
    const id = networkOf?.get(hash) ?? network;
    return notationOf(networks, id).formatTransactionHash(hash);
  });
}

function announceSettled(
  tx: Tx,
  app: InTx,
  before: InvoiceRow,
  after: InvoiceRow,
  state: NetworkState,
  at: Instant,
): void {
  const [was, is] = [momentOf(before), momentOf(after)];
  const types = changesBetween(was, is);
  if (types.length === 0) return;
  const fields = {
    status: { from: was.status, to: is.status },
    exception: { from: was.exception, to: is.exception },
    paidTokenUnits: { from: String(was.seen), to: String(is.seen) },
    owedTokenUnits: { from: String(was.owed), to: String(is.owed) },
    reviewTokenUnits: { from: String(was.inReview), to: String(is.inReview) },
  };
  const changes = Object.fromEntries(
    Object.entries(fields).filter(([, { from, to }]) => from !== to),
  );
  const view = viewOf(after, app.baseUrl(), state.tipHeight);
  announceInvoice(tx, app, at, { types, previousStatus: before.status, changes }, view);
}

function momentOf(row: InvoiceRow): Moment {
  const { status, exception, seenAmount: seen } = row;
  return { status, exception, seen, owed: owedOf(row), inReview: inReviewOf(row) };
}

/** Returns the highest newly paid address index of each wallet with an extended key. */
function paidIndexes(
  before: readonly InvoiceRow[],
  after: readonly InvoiceRow[],
): ReadonlyMap<Id<"wallet">, number> {
  const keyOf = (address: string, id: string) => `${id} ${address}`;
  const unpaid = new Set(
    before.flatMap((row) =>
      quotesOf(row)
        .filter(({ seen }) => seen === 0n)
        .map(({ walletAddress }) => keyOf(walletAddress, row.id)),
    ),
  );
  const highest = new Map<Id<"wallet">, number>();
  for (const row of after) {
    for (const { walletId, addressIndex, walletAddress, seen } of quotesOf(row)) {
      if (walletId === null || addressIndex === null) continue;
      if (seen === 0n || !unpaid.has(keyOf(walletAddress, row.id))) continue;
      highest.set(walletId, Math.max(addressIndex, highest.get(walletId) ?? 0));
    }
  }
  return highest;
}
