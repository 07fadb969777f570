import type { App, InTx } from "../../../app.ts";
import type { Instant } from "../../../kernel/clock.ts";
import { assert, invalidField } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Tx, WriteContext } from "../../../platform/database/database.ts";
import { ManagedByBilling } from "../../invoices/errors.ts";
import { cancelInvoiceIn } from "../../invoices/invoices.ts";
import {
  AllocationTooLarge,
  PaymentNotCounted,
  PaymentNotInReview,
  TransferAllocated,
} from "../errors.ts";
import { requireCreditable, requireRoom } from "../inbox/allocation-rules.ts";
import {
  openAllocation,
  recordAllocation,
  requireOnChain,
  requirePayable,
} from "../inbox/allocation.ts";
import { acceptedPayment, isTaking, rejectedPayment, takenOf } from "../ledger/payment-rules.ts";
import type { PaymentView, ReversePaymentInput } from "../records.ts";
import type { PaymentRow } from "../table.ts";
import { wakeWatcher } from "../wake.ts";
import { applyRuling, lockCase, type LockedCase, type Ruling } from "./ruling.ts";

/** A decision of a person about a locked payment. */
interface Decision {
  readonly rule: (found: LockedCase, tx: Tx, at: Instant) => Ruling | Promise<Ruling>;
  /** An invoice that is locked with those of the transfer's payments. */
  readonly alsoLocked?: Id<"invoice"> | undefined;
  /** Runs after the ruling is stored, in the same transaction. */
  readonly then?: ((tx: Tx, found: LockedCase, at: Instant) => Promise<void>) | undefined;
}

/**
 * Counts the payment, and rejects the transfer's other payments in review. 409 `payment_not_in_review`,
 * `transfer_allocated`.
 */
export function acceptPayment(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  paymentId: Id<"payment">,
): Promise<PaymentView> {
  return decide(app, context, organizationId, paymentId, {
    rule: ({ payment, transfer, others }) => {
      requireReview(payment);
      if (takenOf(others) + payment.amount > transfer.amount) {
        throw new TransferAllocated(
          "This transfer counts for another invoice already, or a part of it was refunded. Reject this payment.",
        );
      }
      return {
        decision: "accepted",
        payments: [acceptedPayment(payment), ...rejectWaiting(others)],
      };
    },
  });
}

/** Rejects the payment, and frees its transfer for allocation. 409 `payment_not_in_review`. */
export function rejectPayment(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  paymentId: Id<"payment">,
): Promise<PaymentView> {
  return decide(app, context, organizationId, paymentId, {
    rule: ({ payment }) => {
      requireReview(payment);
      return { decision: "rejected", payments: [rejectedPayment(payment)] };
    },
  });
}

/**
 * Reverses a payment that counts: it no longer counts, and its amount can be allocated again. The payment stays on
 * record. With `toInvoiceId`, its amount is allocated to that invoice, and with `cancel`, its own invoice is canceled,
 * unless it is already, so that its page never asks for the money again: both in the same transaction. 409
 * `payment_not_counted`, `payment_refunded`, `managed_by_billing`; with `toInvoiceId` also 400 and the problems of
 * `allocateTransfer`; with `cancel` also `invoice_not_cancelable` if other payments count for the invoice. A problem changes
 * nothing.
 */
export function reversePayment(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  paymentId: Id<"payment">,
  { cancel = false, toInvoiceId }: ReversePaymentInput = {},
): Promise<PaymentView> {
  return decide(app, context, organizationId, paymentId, {
    alsoLocked: toInvoiceId,
    rule: async (found, tx, at) => {
      const { payment } = found;
      requireCounted(payment, toInvoiceId !== undefined);
      const reversed = rejectedPayment(payment);
      if (toInvoiceId === undefined) return { decision: "reversed", payments: [reversed] };
      return {
        decision: "reversed",
        payments: [reversed],
        moved: await movedPayment(tx, app, at, found, toInvoiceId),
      };
    },
    then: cancel ? (tx, found, at) => cancelInvoiceOf(tx, app, at, found) : undefined,
  });
}

/**
 * Returns the payment of another invoice that takes the place of a counted one, with its amount less what was refunded
 * of it. The invoice is locked with the payment. 400 if it is the payment's own; 404 for an unknown invoice; 409
 * `transfer_reverted`, `transfer_not_creditable`, `invoice_not_payable`, `managed_by_billing`, `transfer_allocated`,
 * `allocation_too_large`; 422 `token_mismatch`.
 */
async function movedPayment(
  tx: Tx,
  app: InTx,
  at: Instant,
  { payment, transfer, others, network, state, terms }: LockedCase,
  invoiceId: Id<"invoice">,
): Promise<PaymentRow> {
  if (invoiceId === payment.invoiceId) {
    const message = "is the payment's own invoice: name the one that the money is to count for";
    throw invalidField("/toInvoiceId", "same_invoice", message);
  }
  requireOnChain(transfer);
  requireCreditable(transfer, network, state.disabledTokens);
  const asked = await requirePayable(tx, app, payment.organizationId, transfer, invoiceId, terms);
  const given = { invoiceId, amount: payment.amount - payment.refunded };
  if (given.amount <= 0n) {
    throw new AllocationTooLarge(
      `All of ${payment.id} was refunded, so nothing of it is left for another invoice.`,
    );
  }
  requireRoom(transfer, [rejectedPayment(payment), ...others], [given]);
  return openAllocation(app, at, transfer, asked, given);
}

async function cancelInvoiceOf(
  tx: Tx,
  app: InTx,
  at: Instant,
  { payment, terms }: LockedCase,
): Promise<void> {
  const { organizationId, invoiceId } = payment;
  if (terms.get(invoiceId)?.isCanceled === true) return;
  await cancelInvoiceIn(tx, app, at, organizationId, invoiceId, payment.id);
}

/** Applies a decision of a person, and what follows from it in the same transaction. */
function decide(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  paymentId: Id<"payment">,
  { rule, alsoLocked, then }: Decision,
): Promise<PaymentView> {
  return app.db.write(context, async (tx) => {
    const found = await lockCase(tx, app, organizationId, paymentId, alsoLocked);
    const { payment, transfer, network, state } = found;
    if (found.terms.get(payment.invoiceId)?.managedBy === "billing") {
      throw new ManagedByBilling(
        "This payment pays a platform invoice and cannot be changed. Give its payer a credit or an adjustment instead: till billing credit, till billing adjust.",
      );
    }
    const at = app.clock.now();
    const ruling = await rule(found, tx, at);
    const changes = await applyRuling(tx, app, at, found, ruling);
    if (ruling.moved != null) recordAllocation(tx, app, at, transfer, [ruling.moved]);
    await then?.(tx, found, at);
    tx.afterCommit(() => {
      wakeWatcher(app, network.id);
    });
    const decided = changes.find(({ after }) => after.id === paymentId)?.after;
    assert(decided !== undefined, `a decision on ${paymentId} changed nothing`);
    return { payment: decided, transfer, notation: network.kind, tipHeight: state.tipHeight };
  });
}

function rejectWaiting(payments: readonly PaymentRow[]): PaymentRow[] {
  return payments.filter(({ status }) => status === "review").map(rejectedPayment);
}

/** Throws 409 `payment_not_counted` unless a payment counts, with another way to its end. */
function requireCounted(payment: PaymentRow, isMove: boolean): void {
  if (isTaking(payment)) return;
  const { status, transferId } = payment;
  const allocate = `To use its money for an invoice, allocate its transfer ${transferId}.`;
  if (status !== "review") {
    throw new PaymentNotCounted(`This payment is ${status} and does not count. ${allocate}`);
  }
  throw new PaymentNotCounted(
    `This payment is in review. ${isMove ? allocate : "Reject it instead."}`,
  );
}

function requireReview({ status }: PaymentRow): void {
  if (status === "review") return;
  throw new PaymentNotInReview(
    `Only a payment in review can be accepted or rejected, and this one is ${status}. Read it again to see its current status.`,
  );
}
