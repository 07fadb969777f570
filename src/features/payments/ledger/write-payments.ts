import type { InTx } from "../../../app.ts";
import { assert } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import { difference } from "../../../platform/journal.ts";
import type { Tx } from "../../../platform/database/database.ts";
import type { PaymentTotals } from "../../invoices/rules.ts";
import { settleInvoices } from "../../invoices/settlement/settlement.ts";
import { makeMeter } from "../../usage/meter.ts";
import type { ChainContext, PaymentChange, TermsOf } from "./types.ts";
import { presentPayment } from "../records.ts";
import { asideOf, readRejectedFacts } from "./aside.ts";
import { eventOf, computeLedger } from "./payment-rules.ts";
import { insertPayments, transfersById, updatePayments } from "./store.ts";
import { payments, type PaymentRow, type TransferRow } from "../table.ts";
import { groupBy } from "./chain-diff.ts";
import type { Instant } from "../../../kernel/clock.ts";
import { readSurpluses } from "./read-surpluses.ts";

/**
 * Stores changes of invoices' payments, updates figures and invoices, and emits events and audit entries. `given` holds
 * every payment of each invoice in `terms`, all of them locked; `known` holds transfers that are already loaded. Returns
 * the payments that changed.
 */
export async function writePayments(
  tx: Tx,
  app: InTx,
  context: ChainContext,
  terms: TermsOf,
  given: readonly PaymentChange[],
  known: ReadonlyMap<Id<"transfer">, TransferRow>,
): Promise<readonly PaymentChange[]> {
  const { changes, totals } = recompute(given, terms);
  // Updates come first: a rejected payment makes room for a new one of the same transfer and invoice.
  await updatePayments(
    tx,
    changes.filter(({ before }) => before !== null).map(({ after }) => after),
  );
  await insertPayments(
    tx,
    changes.filter(({ before }) => before === null).map(({ after }) => after),
  );
  meter(tx, app, context, changes, terms);
  await recordChanges(tx, app, context, changes, known);
  await storeTotals(
    tx,
    app,
    context,
    terms,
    totals,
    given.map(({ after }) => after),
  );
  await withdrawRequests(tx, app, context.at, given);
  return changes;
}

/**
 * Updates invoices after a change of the refunds of their payments, which is stored already. `ledger` holds every payment
 * of each invoice in `terms`, all of them locked.
 */
export async function applyRefunds(
  tx: Tx,
  app: InTx,
  context: ChainContext,
  terms: TermsOf,
  ledger: readonly PaymentRow[],
): Promise<void> {
  const unchanged = ledger.map((row) => ({ before: row, after: row }));
  const { totals } = recompute(unchanged, terms);
  await storeTotals(tx, app, context, terms, totals, ledger);
}

/** Stores the invoices' totals. `ledger` holds every payment of each of them, as stored. */
async function storeTotals(
  tx: Tx,
  app: InTx,
  { network, state, at }: ChainContext,
  terms: TermsOf,
  totals: ReadonlyMap<Id<"invoice">, PaymentTotals>,
  ledger: readonly PaymentRow[],
): Promise<void> {
  const facts = await readRejectedFacts(tx, ledger);
  const ledgers = groupBy(ledger, ({ invoiceId }) => invoiceId);
  const complete = [...terms].flatMap(([invoiceId, asked]) => {
    const own = totals.get(invoiceId);
    if (own === undefined) return [];
    const aside = asideOf(ledgers.get(invoiceId) ?? [], asked, facts);
    return [[invoiceId, { ...own, aside }] as const];
  });
  await settleInvoices(tx, app, at, network.id, terms, new Map(complete), state);
}

/** Computes each invoice's totals and the payments that change. */
function recompute(
  given: readonly PaymentChange[],
  terms: TermsOf,
): { changes: PaymentChange[]; totals: Map<Id<"invoice">, PaymentTotals> } {
  const befores = new Map(given.map(({ before, after }) => [after.id, before]));
  const ledgers = groupBy(given, ({ after }) => after.invoiceId);
  const changes: PaymentChange[] = [];
  const totals = new Map<Id<"invoice">, PaymentTotals>();
  for (const [invoiceId, asked] of terms) {
    const ledger = (ledgers.get(invoiceId) ?? []).map(({ after }) => after);
    const computed = computeLedger(ledger, asked);
    totals.set(invoiceId, computed.totals);
    for (const payment of computed.payments) {
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

/** Adds newly confirmed payments to the figures, and removes payments that are no longer confirmed. */
function meter(
  tx: Tx,
  { ids }: InTx,
  { at }: ChainContext,
  changes: readonly PaymentChange[],
  terms: TermsOf,
): void {
  const meter = makeMeter(ids);
  for (const { before, after } of changes) {
    const subjects = terms.get(after.invoiceId);
    assert(subjects !== undefined, "a payment's invoice was not locked");
    meter.payment({ ...subjects, walletId: after.walletId ?? subjects.walletId }, before, after);
  }
  meter.append(tx, at);
}

/** Records audit entries and emits events for payments whose status changed. */
async function recordChanges(
  tx: Tx,
  app: InTx,
  { at, network, state }: ChainContext,
  changes: readonly PaymentChange[],
  known: ReadonlyMap<Id<"transfer">, TransferRow>,
): Promise<void> {
  const reported = changes.filter(({ before, after }) => before?.status !== after.status);
  const transfers = await transfersOf(tx, reported, known);
  for (const { before, after } of reported) {
    const transfer = transfers.get(after.transferId);
    assert(transfer !== undefined, "a payment has no transfer");
    const type = eventOf(before, after);
    const view = { payment: after, transfer, notation: network.kind, tipHeight: state.tipHeight };
    const record = presentPayment(view);
    const past = before === null ? {} : presentPayment({ ...view, payment: before });
    app.journal.record(tx, at, {
      action: type,
      organizationId: after.organizationId,
      subjectType: "payment",
      subjectId: after.id,
      changes: difference(past, record),
      events: {
        types: [type],
        version: after.version,
        data: before === null ? record : { ...record, previousStatus: before.status },
      },
    });
  }
}

/** Returns the transfers of payments: the loaded ones, and the others read with one query. */
async function transfersOf(
  tx: Tx,
  changes: readonly PaymentChange[],
  known: ReadonlyMap<Id<"transfer">, TransferRow>,
): Promise<ReadonlyMap<Id<"transfer">, TransferRow>> {
  const ids = changes.map(({ after }) => after.transferId);
  const others = await transfersById(
    tx,
    ids.filter((id) => !known.has(id)),
  );
  return new Map([...known, ...others]);
}

/**
 * Withdraws the requested refunds that a change of payments leaves without a surplus: the invoice needs the money after
 * all, or a reorganization removed it. Refunds that were sent stay. Reads nothing unless a refund is requested.
 */
export async function withdrawRequests(
  tx: Tx,
  app: InTx,
  at: Instant,
  given: readonly PaymentChange[],
): Promise<void> {
  const asking = given.filter(({ after }) => after.refundRequested > 0n);
  if (asking.length === 0) return;
  const found = await readSurpluses(
    tx,
    asking.map(({ after }) => after.id),
  );
  const uncovered = [...found.values()]
    .filter(({ payment, surplus }) => payment.refundRequested + payment.refunded > surplus)
    .map(({ payment }) => payment.id);
  if (uncovered.length === 0) return;
  await tx.updateMany(
    payments,
    uncovered.map((id) => ({ where: { id }, set: { refundRequested: 0n } })),
  );
  await app.hooks.withdrawRefunds(tx, app, at, uncovered);
}
