import { bind, type Bound } from "../../../kernel/bind.ts";
import type { Clock, Instant } from "../../../kernel/clock.ts";
import { assert, notFound } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import { notationOf } from "../../../platform/chain/networks.ts";
import { networkState } from "../../../platform/chain/state/network-state.ts";
import type { Database, Tx, WriteContext } from "../../../platform/database/database.ts";
import { ManagedByBilling } from "../../invoices/errors.ts";
import { PaymentNotCounted, PaymentNotInReview, TransferAllocated } from "../errors.ts";
import { findPayment } from "../hash-claims/store.ts";
import { recordAllocation, type AllocationDependencies } from "../inbox/open-allocation.ts";
import { acceptPayment, isTaking, rejectPayment, takenOf } from "../ledger/payment-rules.ts";
import type { LedgerDeps } from "../ledger/types.ts";
import type { PaymentView } from "../present-payment.ts";
import { transfers, type PaymentRow } from "../table.ts";
import { applyRuling, type Ruling } from "./apply-ruling.ts";
import { lockCase, type LockedCase } from "./locked-case.ts";
import { movedPayment } from "./move-payment.ts";

/** The merchant's decisions about payments. */
export type PaymentDecisions = Bound<typeof methods>;

/** A decision of a person about a locked payment. */
interface Decision {
  readonly rule: (found: LockedCase, tx: Tx, at: Instant) => Ruling | Promise<Ruling>;
  /** An invoice that is locked with those of the transfer's payments. */
  readonly alsoLocked?: Id<"invoice"> | undefined;
  /** Runs after the ruling is stored, in the same transaction. */
  readonly then?: ((tx: Tx, found: LockedCase, at: Instant) => Promise<void>) | undefined;
}

/** Further effects of a reversal, in the same transaction. */
export interface ReversalInput {
  /** Cancels the payment's invoice. */
  readonly cancel?: boolean | undefined;
  /** Allocates the amount to this invoice. */
  readonly toInvoiceId?: Id<"invoice"> | undefined;
}

type Deps = LedgerDeps &
  AllocationDependencies & {
    readonly db: Database;
    readonly clock: Clock;
    /** Wakes the watcher of a network. */
    readonly wake: (network: string) => void;
  };

const methods = { get, accept, reject, reverse };

export function makePaymentDecisions(deps: Deps): PaymentDecisions {
  return bind(deps, methods);
}

/** Returns a payment of the organization. */
async function get(
  { db, networks }: Deps,
  organizationId: Id<"organization">,
  paymentId: Id<"payment">,
): Promise<PaymentView> {
  const payment = await findPayment(db, organizationId, paymentId);
  if (payment === null) throw notFound();
  const transfer = await db.findOne(transfers, "WHERE id = $1", [payment.transferId]);
  const state = await networkState(db, payment.network);
  assert(transfer !== null && state !== null, `the chain of ${paymentId} was never read`);
  const notation = notationOf(networks, payment.network);
  return { payment, transfer, notation, tipHeight: state.tipHeight };
}

/**
 * Counts the payment, and rejects the transfer's other payments in review. 409 `payment_not_in_review`,
 * `transfer_allocated`.
 */
function accept(
  deps: Deps,
  context: WriteContext,
  organizationId: Id<"organization">,
  paymentId: Id<"payment">,
): Promise<PaymentView> {
  return decide(deps, context, organizationId, paymentId, {
    rule: ({ payment, transfer, others }) => {
      requireReview(payment);
      if (takenOf(others) + payment.amount > transfer.amount) {
        throw new TransferAllocated(
          "This transfer counts for another invoice already, or a part of it was refunded. Reject this payment.",
        );
      }
      return { decision: "accepted", payments: [acceptPayment(payment), ...rejectWaiting(others)] };
    },
  });
}

/** Rejects the payment, and frees its transfer for allocation. 409 `payment_not_in_review`. */
function reject(
  deps: Deps,
  context: WriteContext,
  organizationId: Id<"organization">,
  paymentId: Id<"payment">,
): Promise<PaymentView> {
  return decide(deps, context, organizationId, paymentId, {
    rule: ({ payment }) => {
      requireReview(payment);
      return { decision: "rejected", payments: [rejectPayment(payment)] };
    },
  });
}

/**
 * Reverses a payment that counts: it no longer counts, and its amount can be allocated again. The payment stays on
 * record. With `toInvoiceId`, its amount is allocated to that invoice, and with `cancel`, its own invoice is canceled,
 * unless it is already, so that its page never asks for the money again: both in the same transaction. 409
 * `payment_not_counted`, `payment_refunded`, `managed_by_billing`; with `toInvoiceId` also 400 and the problems of
 * `allocate`; with `cancel` also `invoice_not_cancelable` if other payments count for the invoice. A problem changes
 * nothing.
 */
function reverse(
  deps: Deps,
  context: WriteContext,
  organizationId: Id<"organization">,
  paymentId: Id<"payment">,
  { cancel = false, toInvoiceId }: ReversalInput = {},
): Promise<PaymentView> {
  return decide(deps, context, organizationId, paymentId, {
    alsoLocked: toInvoiceId,
    rule: async (found, tx, at) => {
      const { payment } = found;
      requireCounted(payment, toInvoiceId !== undefined);
      const reversed = rejectPayment(payment);
      if (toInvoiceId === undefined) return { decision: "reversed", payments: [reversed] };
      return {
        decision: "reversed",
        payments: [reversed],
        moved: await movedPayment(deps, tx, found, toInvoiceId, at),
      };
    },
    then: cancel ? (tx, found, at) => cancelInvoiceOf(tx, deps, found, at) : undefined,
  });
}

async function cancelInvoiceOf(
  tx: Tx,
  { invoices }: Deps,
  { payment, terms }: LockedCase,
  at: Instant,
): Promise<void> {
  const { organizationId, invoiceId } = payment;
  if (terms.get(invoiceId)?.isCanceled === true) return;
  await invoices.cancelInvoice(tx, organizationId, invoiceId, at, payment.id);
}

/** Applies a decision of a person, and what follows from it in the same transaction. */
function decide(
  deps: Deps,
  context: WriteContext,
  organizationId: Id<"organization">,
  paymentId: Id<"payment">,
  { rule, alsoLocked, then }: Decision,
): Promise<PaymentView> {
  return deps.db.write(context, async (tx) => {
    const found = await lockCase(tx, deps, organizationId, paymentId, alsoLocked);
    const { payment, transfer, network, state } = found;
    if (found.terms.get(payment.invoiceId)?.managedBy === "billing") {
      throw new ManagedByBilling(
        "This payment pays a platform invoice and cannot be changed. Give its payer a credit or an adjustment instead: till billing credit, till billing adjust.",
      );
    }
    const at = deps.clock.now();
    const ruling = await rule(found, tx, at);
    const changes = await applyRuling(tx, deps, found, ruling, at);
    if (ruling.moved != null) recordAllocation(deps, tx, at, transfer, [ruling.moved]);
    await then?.(tx, found, at);
    tx.afterCommit(() => {
      deps.wake(network.id);
    });
    const decided = changes.find(({ after }) => after.id === paymentId)?.after;
    assert(decided !== undefined, `a decision on ${paymentId} changed nothing`);
    return { payment: decided, transfer, notation: network.kind, tipHeight: state.tipHeight };
  });
}

function rejectWaiting(payments: readonly PaymentRow[]): PaymentRow[] {
  return payments.filter(({ status }) => status === "review").map(rejectPayment);
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
