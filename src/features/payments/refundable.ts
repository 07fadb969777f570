import type { InTx } from "../../app.ts";
import type { Instant } from "../../kernel/clock.ts";
import { assert } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import type { Tx } from "../../platform/database/database.ts";
import { ManagedByBilling } from "../invoices/errors.ts";
import { assignTransfer } from "./hash-claims/store.ts";
import { applyRuling, lockCase, type LockedCase } from "./decisions/ruling.ts";
import {
  dispositionAfter,
  isCounted,
  isVerified,
  rejectedPayment,
} from "./ledger/payment-rules.ts";
import { freeOf, surplusInTime, surplusOf } from "./ledger/surplus.ts";
import { applyRefunds, withdrawRequests } from "./ledger/write-payments.ts";
import { payments, type PaymentRow } from "./table.ts";

/** A locked payment with the part of it that can be refunded. */
export interface RefundablePayment extends LockedCase {
  /** The part that its invoice does not need, in the token's smallest unit, and what no refund takes of it. */
  readonly surplus: bigint;
  readonly free: bigint;
  /** The surplus once all payments are confirmed and on the chain: what waiting alone can make possible. */
  readonly surplusInTime: bigint;
  /** True if the payment is confirmed or, if it does not count, its transfer is final. */
  readonly isConfirmed: boolean;
  /** True if the network's providers have verified the transfer: the money has come, whatever one of them says. */
  readonly isVerified: boolean;
}

/** Locks a payment of an organization. 404 if the organization has no such payment, 409 `managed_by_billing`. */
export async function lockRefundable(
  tx: Tx,
  app: InTx,
  organizationId: Id<"organization">,
  paymentId: Id<"payment">,
): Promise<RefundablePayment> {
  const found = await lockCase(tx, app, organizationId, paymentId);
  const { payment, transfer, others, terms, stored } = found;
  const locked = terms.get(payment.invoiceId);
  assert(locked !== undefined, `${paymentId} belongs to a draft`);
  if (locked.managedBy === "billing") {
    throw new ManagedByBilling(
      "This payment pays a platform invoice. Its surplus becomes credit, which pays the next ones.",
    );
  }
  const ledger = stored.filter(({ invoiceId }) => invoiceId === payment.invoiceId);
  const inputs = { status: locked.invoice.status, terms: locked, ledger };
  const source = { transfer, payments: [payment, ...others] };
  const surplus = surplusOf(payment, inputs, source);
  return {
    ...found,
    surplus,
    free: freeOf(surplus, payment, locked),
    surplusInTime: surplusInTime(payment, inputs, source),
    // The verifier confirms the payments that count. The transfers of the others are verified in their final blocks.
    isConfirmed:
      transfer.status === "seen" &&
      (isCounted(payment) ? payment.status === "confirmed" : transfer.isFinal),
    isVerified: isVerified(payment, transfer),
  };
}

/**
 * Reserves a part of the payment's surplus for a refund that is requested. It reserves nothing against refunds of other
 * payments of the same transfer: of those, the one that is sent first takes the money.
 */
export function reserveRefund(
  tx: Tx,
  { payment }: RefundablePayment,
  amount: bigint,
): Promise<void> {
  return save(tx, { ...payment, refundRequested: payment.refundRequested + amount });
}

/** Ends the reservation of a requested refund that was rejected. */
export function releaseRefund(
  tx: Tx,
  { payment }: RefundablePayment,
  amount: bigint,
): Promise<void> {
  return save(tx, { ...payment, refundRequested: payment.refundRequested - amount });
}

/**
 * Notes that a requested refund was sent. A payment that its invoice does not need as a whole is rejected, so that it
 * neither waits for a decision nor counts when the rest of the price arrives later. Requested refunds of other payments
 * that the rest of the transfer does not cover are withdrawn.
 */
export async function noteSentRefund(
  tx: Tx,
  app: InTx,
  at: Instant,
  found: RefundablePayment,
  amount: bigint,
): Promise<void> {
  const { payment, others, terms } = found;
  const refunded: PaymentRow = {
    ...payment,
    refundRequested: payment.refundRequested - amount,
    refunded: payment.refunded + amount,
  };
  const isPaid = terms.get(payment.invoiceId)?.invoice.status === "paid";
  if (payment.status === "rejected") {
    await saveRefunded(tx, app, at, found, refunded);
    const unchanged = others.map((other) => ({ before: other, after: other }));
    await withdrawRequests(tx, app, at, unchanged);
  } else if (isCounted(payment) && isPaid) {
    await saveRefunded(tx, app, at, found, refunded);
  } else {
    const decision = payment.status === "review" ? "rejected" : "reversed";
    await applyRuling(tx, app, at, found, { decision, payments: [rejectedPayment(refunded)] });
  }
}

/**
 * Returns a refund that was sent to the requested ones, because its transaction does not prove it. Returns false if the
 * payment no longer has the surplus for it: then it must be rejected.
 */
export async function takeBackRefund(
  tx: Tx,
  app: InTx,
  at: Instant,
  found: RefundablePayment,
  amount: bigint,
): Promise<boolean> {
  const { payment, surplus } = found;
  const isCovered = payment.refundRequested + payment.refunded <= surplus;
  const requested: PaymentRow = {
    ...payment,
    refundRequested: payment.refundRequested + (isCovered ? amount : 0n),
    refunded: payment.refunded - amount,
  };
  await saveRefunded(tx, app, at, found, requested);
  return isCovered;
}

/** Ends a refund that was sent but whose transaction was found in no block. */
export async function releaseSentRefund(
  tx: Tx,
  app: InTx,
  at: Instant,
  found: RefundablePayment,
  amount: bigint,
): Promise<void> {
  const { payment } = found;
  await saveRefunded(tx, app, at, found, { ...payment, refunded: payment.refunded - amount });
}

/** Stores a payment whose sent refunds changed, with the effects on its transfer and on what invoices owe. */
async function saveRefunded(
  tx: Tx,
  app: InTx,
  at: Instant,
  found: RefundablePayment,
  payment: PaymentRow,
): Promise<void> {
  const { network, state, terms, stored } = found;
  await save(tx, payment);
  if (!isCounted(payment)) await dispose(tx, found, payment);
  const ledger = stored.map((row) => (row.id === payment.id ? payment : row));
  await applyRefunds(tx, app, { network, state, at }, terms, ledger);
}

async function save(tx: Tx, { id, refundRequested, refunded }: PaymentRow): Promise<void> {
  await tx.update(payments, { refundRequested, refunded }, "WHERE id = $1", [id]);
}

/** Stores whether the transfer of a payment that does not count still has an amount to allocate. */
async function dispose(
  tx: Tx,
  { transfer, others }: RefundablePayment,
  payment: PaymentRow,
): Promise<void> {
  const rest = transfer.disposition === "ignored" ? "ignored" : "unmatched";
  await assignTransfer(tx, transfer.id, dispositionAfter(transfer, [payment, ...others], rest));
}
