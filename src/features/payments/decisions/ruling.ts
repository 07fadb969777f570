import type { InTx } from "../../../app.ts";
import type { Instant } from "../../../kernel/clock.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { PaymentRefunded } from "../errors.ts";
import {
  assignTransfer,
  findPayment,
  lockTransfer,
  paymentsOfTransfer,
} from "../hash-claims/store.ts";
import { noteDecisions } from "../inbox/store.ts";
import { dispositionAfter } from "../ledger/payment-rules.ts";
import { lockPayments, markVerified } from "../ledger/store.ts";
import { overRefunded } from "../ledger/surplus.ts";
import type { PaymentChange, TermsOf } from "../ledger/types.ts";
import { writePayments } from "../ledger/write-payments.ts";
import type { PaymentRow, TransferRow } from "../table.ts";
import { assert, notFound } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import { networkState, type NetworkState } from "../../../platform/chain/state/network-state.ts";
import { lockTerms } from "../../invoices/settlement/settlement.ts";
import { listedNetwork } from "../inbox/allocation-rules.ts";

/** The changes that a decision makes. */
export interface Ruling {
  readonly decision: "accepted" | "rejected" | "reversed";
  /** The changed payments, beginning with the one that was decided on. Other payments stay unchanged. */
  readonly payments: readonly [PaymentRow, ...PaymentRow[]];
  /** The payment of the same transfer that takes the place of the decided one, for another invoice. */
  readonly moved?: PaymentRow | null;
}

/**
 * Stores a ruling with its effects on the transfer and the invoices, and returns the changed payments. 409
 * `payment_refunded` if more of an invoice's payments would be refunded than it does not need.
 */
export async function applyRuling(
  tx: Tx,
  app: InTx,
  at: Instant,
  found: LockedCase,
  ruling: Ruling,
): Promise<readonly PaymentChange[]> {
  const { payment, transfer, others, network, state, terms, stored } = found;
  const ruled = new Map(ruling.payments.map((row) => [row.id, row]));
  const opened = ruling.moved == null ? [] : [ruling.moved];
  const ledger = stored.map((row) => ruled.get(row.id) ?? row);
  requireRefundsCovered(terms, [...ledger, ...opened]);
  const isLeft = ruling.decision === "rejected" && transfer.disposition === "ignored";
  const after = [...[payment, ...others].map((row) => ruled.get(row.id) ?? row), ...opened];
  const disposition = dispositionAfter(transfer, after, isLeft ? "ignored" : "unmatched");
  await assignTransfer(tx, transfer.id, disposition);
  // The confirmation proved the transfer, and the payment's status no longer says so.
  if (payment.status === "confirmed") await markVerified(tx, [transfer]);
  const [first, ...rest] = ruling.payments;
  await noteDecisions(tx, app.ids, at, ruling.decision, [first]);
  await noteDecisions(tx, app.ids, at, "rejected", rest);
  await noteDecisions(tx, app.ids, at, "allocated", opened);
  return writePayments(
    tx,
    app,
    { network, state, at },
    terms,
    [
      ...stored.map((before): PaymentChange => ({ before, after: ruled.get(before.id) ?? before })),
      ...opened.map((row): PaymentChange => ({ before: null, after: row })),
    ],
    new Map([[transfer.id, transfer]]),
  );
}

/** Throws if a decision would make an invoice need money that was refunded. */
function requireRefundsCovered(terms: TermsOf, ledger: readonly PaymentRow[]): void {
  for (const [invoiceId, asked] of terms) {
    const own = ledger.filter((row) => row.invoiceId === invoiceId);
    const [paymentId] = overRefunded({ terms: asked, ledger: own });
    if (paymentId === undefined) continue;
    throw new PaymentRefunded(
      `${invoiceId} would need ${paymentId}, of which a part was refunded. Reverse that payment first.`,
    );
  }
}

/** A locked payment with everything that a decision on it may change. */
export interface LockedCase {
  readonly payment: PaymentRow;
  readonly transfer: TransferRow;
  /** The other payments of the transfer. */
  readonly others: readonly PaymentRow[];
  readonly network: Network;
  readonly state: NetworkState;
  /** The terms of the locked invoices, and all payments of these invoices. */
  readonly terms: TermsOf;
  readonly stored: readonly PaymentRow[];
}

/**
 * Locks a payment in the ledger's order: its transfer, the invoices of the transfer's payments and `alsoLocked`, their
 * payments. 404 if the organization has no such payment.
 */
export async function lockCase(
  tx: Tx,
  { networks }: InTx,
  organizationId: Id<"organization">,
  paymentId: Id<"payment">,
  alsoLocked?: Id<"invoice">,
): Promise<LockedCase> {
  const named = await findPayment(tx, organizationId, paymentId);
  if (named === null) throw notFound();
  const transfer = await lockTransfer(tx, named.transferId);
  const network = listedNetwork(networks.known, named.network);
  const state = await networkState(tx, named.network);
  assert(transfer !== null && state !== null, `the chain of ${paymentId} was never read`);
  const ofTransfer = await paymentsOfTransfer(tx, transfer.id);
  const invoiceIds = invoicesToLock(ofTransfer, alsoLocked);
  const terms = await lockTerms(tx, invoiceIds);
  const stored = await lockPayments(tx, invoiceIds);
  const payment = stored.find(({ id }) => id === paymentId);
  assert(payment !== undefined, `${paymentId} is not among its invoice's payments`);
  const others = stored.filter(
    ({ id, transferId }) => id !== paymentId && transferId === transfer.id,
  );
  return { payment, transfer, others, network, state, terms, stored };
}

/** Returns the invoices of payments and another one, each once, in the order in which every transaction locks them. */
export function invoicesToLock(
  ofTransfer: readonly Pick<PaymentRow, "invoiceId">[],
  alsoLocked?: Id<"invoice">,
): Id<"invoice">[] {
  const affected = ofTransfer.map(({ invoiceId }) => invoiceId);
  if (alsoLocked !== undefined) affected.push(alsoLocked);
  return [...new Set(affected)].sort();
}
