import { assert } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { difference } from "../../platform/audit/index.ts";
import type { Tx } from "../../platform/database/index.ts";
import type { PayableTerms, PaymentTotals } from "../invoices/index.ts";
import { meterPayment } from "../usage/index.ts";
import type { Entry, LedgerDeps } from "./entry.ts";
import { findPlaces, writePlaces, type Placed } from "./placement.ts";
import { presentPayment } from "./present.ts";
import {
  confirmPayment,
  movePayment,
  openPayment,
  paymentEvents,
  revertPayment,
  settleLedger,
} from "./rules.ts";
import { insertPayments, lockPayments, transfersById, updatePayments } from "./store.ts";
import type { PaymentRow, TransferRow } from "./table.ts";
import { groupBy } from "./window.ts";

/** A payment as it was stored, null for a new one, and as it becomes. */
interface Change {
  readonly before: PaymentRow | null;
  readonly after: PaymentRow;
}

type TermsOf = ReadonlyMap<Id<"invoice">, PayableTerms>;

/**
 * Writes what changed on the chain, and what follows from it for payments and invoices, in the caller's transaction
 * and with a fixed number of statements. Rows are locked in the order transfers, invoices, payments. Gives true where
 * payments came to have their confirmations with it, so that their receipts can be read at once.
 */
export async function enter(tx: Tx, deps: LedgerDeps, entry: Entry): Promise<boolean> {
  const found = await findPlaces(tx, deps, entry);
  const invoiceIds = new Set([
    ...found.invoiceIds,
    ...entry.verified.map(({ payment }) => payment.invoiceId),
  ]);
  const inOrder = [...invoiceIds].sort();
  const terms: TermsOf =
    inOrder.length === 0 ? new Map() : await deps.invoices.lockTerms(tx, inOrder);
  const placed = await writePlaces(tx, found, terms);
  if (inOrder.length === 0) return false;

  const stored = await lockPayments(tx, inOrder);
  const { changes, totals } = settle(
    [...followPayments(stored, placed, entry), ...openPayments(deps, placed, terms, entry)],
    terms,
  );
  await insertPayments(
    tx,
    changes.filter(({ before }) => before === null).map(({ after }) => after),
  );
  await updatePayments(
    tx,
    changes.filter(({ before }) => before !== null).map(({ after }) => after),
  );
  meter(tx, deps, entry, changes, terms);
  await tell(tx, deps, entry, changes, placed);
  await deps.invoices.settleInvoices(tx, entry.network.id, totals, entry.state, entry.at);
  return changes.some(({ after }) => isMature(after, entry.state.tipHeight));
}

function isMature(payment: PaymentRow, tipHeight: number): boolean {
  return payment.status === "confirming" && payment.confirmsAtHeight <= tipHeight;
}

/** Stored payments as the chain's news leave them. */
function followPayments(stored: readonly PaymentRow[], placed: Placed, entry: Entry): Change[] {
  const transfers = transfersIn(placed);
  const verified = new Map(entry.verified.map(({ payment }) => [payment.id, payment.blockHash]));
  return stored.map((before) => {
    const transfer = transfers.get(before.transferId);
    if (transfer !== undefined) {
      const isOnChain = transfer.status === "seen";
      return { before, after: isOnChain ? movePayment(before, transfer) : revertPayment(before) };
    }
    // Since its receipt was read, others may have decided about it.
    const mayConfirm =
      isMature(before, entry.state.tipHeight) && verified.get(before.id) === before.blockHash;
    return { before, after: mayConfirm ? confirmPayment(before, entry.at) : before };
  });
}

function openPayments(deps: LedgerDeps, placed: Placed, terms: TermsOf, entry: Entry): Change[] {
  const transfers = transfersIn(placed);
  return [...placed.matches].map(([transferId, match]) => {
    const transfer = transfers.get(transferId);
    const asked = terms.get(match.invoiceId);
    assert(transfer !== undefined && asked !== undefined, "a match names what is not there");
    const { at } = entry;
    const id = deps.ids.next("payment", at);
    const after = openPayment({ id, transfer, match, terms: asked, source: "detected", at });
    return { before: null, after };
  });
}

/** What each invoice's payments come to, and those of them that change by it. */
function settle(
  given: readonly Change[],
  terms: TermsOf,
): { changes: Change[]; totals: Map<Id<"invoice">, PaymentTotals> } {
  const befores = new Map(given.map(({ before, after }) => [after.id, before]));
  const ledgers = groupBy(given, ({ after }) => after.invoiceId);
  const changes: Change[] = [];
  const totals = new Map<Id<"invoice">, PaymentTotals>();
  for (const [invoiceId, asked] of terms) {
    const ledger = (ledgers.get(invoiceId) ?? []).map(({ after }) => after);
    const settled = settleLedger(ledger, asked);
    totals.set(invoiceId, settled.totals);
    for (const payment of settled.payments) {
      const before = befores.get(payment.id) ?? null;
      if (before === null) changes.push({ before, after: payment });
      else if (differs(before, payment)) {
        changes.push({ before, after: { ...payment, version: before.version + 1 } });
      }
    }
  }
  return { changes, totals };
}

function differs(one: PaymentRow, other: PaymentRow): boolean {
  const names = Object.keys(one) as (keyof PaymentRow)[];
  return names.some((name) => one[name] !== other[name]);
}

/** Puts what is confirmed into the figures, and takes out again what is not any more. */
function meter(
  tx: Tx,
  { ids }: LedgerDeps,
  { at }: Entry,
  changes: readonly Change[],
  terms: TermsOf,
): void {
  for (const { before, after } of changes) {
    const subjects = terms.get(after.invoiceId);
    assert(subjects !== undefined, "a payment's invoice was not locked");
    meterPayment(tx, ids, at, subjects, before, after);
  }
}

/** Audit entries and events of the payments that came to another status. */
async function tell(
  tx: Tx,
  deps: LedgerDeps,
  entry: Entry,
  changes: readonly Change[],
  placed: Placed,
): Promise<void> {
  const { at, network, state } = entry;
  const told = changes.filter(({ before, after }) => before?.status !== after.status);
  const transfers = await transfersOf(tx, told, placed);
  for (const { before, after } of told) {
    const transfer = transfers.get(after.transferId);
    assert(transfer !== undefined, "a payment has no transfer");
    const type = paymentEvents[after.status];
    const view = { payment: after, transfer, network, tipHeight: state.tipHeight };
    const record = presentPayment(view);
    const { organizationId } = after;
    deps.outbox.emit(tx, at, {
      type,
      organizationId,
      objectType: "payment",
      objectId: after.id,
      objectVersion: after.version,
      data: before === null ? record : { ...record, previousStatus: before.status },
    });
    const past = before === null ? {} : presentPayment({ ...view, payment: before });
    deps.auditor.record(tx, at, {
      action: type,
      organizationId,
      targetType: "payment",
      targetId: after.id,
      changes: difference(past, record),
    });
  }
}

/** The transfers of payments: those just placed, and the others read at once. */
async function transfersOf(
  tx: Tx,
  changes: readonly Change[],
  placed: Placed,
): Promise<ReadonlyMap<Id<"transfer">, TransferRow>> {
  const known = transfersIn(placed);
  const ids = changes.map(({ after }) => after.transferId);
  const others = await transfersById(
    tx,
    ids.filter((id) => !known.has(id)),
  );
  return new Map([...known, ...others]);
}

function transfersIn({ fresh, moved, orphaned }: Placed): Map<Id<"transfer">, TransferRow> {
  return new Map([...fresh, ...moved, ...orphaned].map((row) => [row.id, row]));
}
