import { bind, type Bound } from "../../../kernel/bind.ts";
import type { Clock, Instant } from "../../../kernel/clock.ts";
import { assert, notFound } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import { notationOf, type Network } from "../../../platform/chain/networks.ts";
import { networkState, type NetworkState } from "../../../platform/chain/state/network-state.ts";
import type { Database, Tx, WriteContext } from "../../../platform/database/index.ts";
import { ManagedByBilling } from "../../invoices/index.ts";
import { writePayments } from "../ledger/write-payments.ts";
import {
  assignTransfer,
  findPayment,
  lockTransfer,
  paymentsOfTransfer,
} from "../hash-claims/store.ts";
import type { LedgerDeps, PaymentChange, TermsOf } from "../ledger/types.ts";
import {
  PaymentNotCounted,
  PaymentNotInReview,
  PaymentRefunded,
  TransferAllocated,
} from "../errors.ts";
import { overRefunded } from "../ledger/surplus.ts";
import type { PaymentView } from "../present-payment.ts";
import {
  acceptPayment,
  isTaking,
  rejectPayment,
  dispositionAfter,
  takenOf,
} from "../ledger/payment-rules.ts";
import { lockPayments } from "../ledger/store.ts";
import { transfers, type PaymentRow, type TransferRow } from "../table.ts";
import { listedNetwork } from "./listed-network.ts";
import { noteDecisions } from "./store.ts";

/** The merchant's decisions about payments. */
export type PaymentDecisions = Bound<typeof methods>;

/** A transfer with its payments, as input of a decision. */
interface Case {
  readonly payment: PaymentRow;
  readonly transfer: TransferRow;
  /** The other payments of the transfer. */
  readonly others: readonly PaymentRow[];
}

/** A locked payment with everything that a decision on it may change. */
export interface LockedCase extends Case {
  readonly network: Network;
  readonly state: NetworkState;
  /** The terms of the invoices of the transfer's payments, and all payments of these invoices. */
  readonly terms: TermsOf;
  readonly stored: readonly PaymentRow[];
}

interface Ruling {
  readonly decision: "accepted" | "rejected" | "reversed";
  /** The changed payments, beginning with the one that was decided on. Other payments stay unchanged. */
  readonly payments: readonly [PaymentRow, ...PaymentRow[]];
}

type Deps = LedgerDeps & {
  readonly db: Database;
  readonly clock: Clock;
  /** Every configured network by id, including disabled ones. */
  readonly networks: ReadonlyMap<string, Network>;
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
  return decide(deps, context, organizationId, paymentId, ({ payment, transfer, others }) => {
    requireReview(payment);
    if (takenOf(others) + payment.amount > transfer.amount) {
      throw new TransferAllocated(
        "This transfer already counts for another invoice. Reject this payment.",
      );
    }
    const waiting = others.filter(({ status }) => status === "review");
    return {
      decision: "accepted",
      payments: [acceptPayment(payment), ...waiting.map(rejectPayment)],
    };
  });
}

/** Rejects the payment, and frees its transfer for allocation. 409 `payment_not_in_review`. */
function reject(
  deps: Deps,
  context: WriteContext,
  organizationId: Id<"organization">,
  paymentId: Id<"payment">,
): Promise<PaymentView> {
  return decide(deps, context, organizationId, paymentId, ({ payment }) => {
    requireReview(payment);
    return { decision: "rejected", payments: [rejectPayment(payment)] };
  });
}

/**
 * Reverses a payment that counts: it no longer counts, and its amount can be allocated again. The payment stays on
 * record. With `cancel`, its invoice is canceled in the same transaction, unless it is already, so that its page never
 * asks for the money again. 409 `payment_not_counted`, `payment_refunded`, `managed_by_billing`, and with `cancel`
 * `invoice_not_cancelable` if other payments count for the invoice: then nothing is changed.
 */
function reverse(
  deps: Deps,
  context: WriteContext,
  organizationId: Id<"organization">,
  paymentId: Id<"payment">,
  { cancel = false }: { readonly cancel?: boolean | undefined } = {},
): Promise<PaymentView> {
  const withCancel = cancel ? cancelInvoiceOf : undefined;
  return decide(
    deps,
    context,
    organizationId,
    paymentId,
    ({ payment }) => {
      if (!isTaking(payment)) {
        throw new PaymentNotCounted(
          payment.status === "review"
            ? "This payment is in review. Reject it instead."
            : `This payment is ${payment.status} and does not count.`,
        );
      }
      return { decision: "reversed", payments: [rejectPayment(payment)] };
    },
    withCancel,
  );
}

async function cancelInvoiceOf(
  tx: Tx,
  { invoices }: Deps,
  { payment, terms }: LockedCase,
  at: Instant,
): Promise<void> {
  const { organizationId, invoiceId } = payment;
  if (terms.get(invoiceId)?.isCanceled === true) return;
  await invoices.cancelInvoice(tx, organizationId, invoiceId, at);
}

/** Applies a decision of a person, and what follows from it in the same transaction. */
function decide(
  deps: Deps,
  context: WriteContext,
  organizationId: Id<"organization">,
  paymentId: Id<"payment">,
  rule: (found: Case) => Ruling,
  then?: (tx: Tx, deps: Deps, found: LockedCase, at: Instant) => Promise<void>,
): Promise<PaymentView> {
  return deps.db.write(context, async (tx) => {
    const found = await lockCase(tx, deps, organizationId, paymentId);
    const { payment, transfer, network, state } = found;
    if (found.terms.get(payment.invoiceId)?.managedBy === "billing") {
      throw new ManagedByBilling(
        "This payment pays a platform invoice and cannot be changed. Give its payer a credit or an adjustment instead: till billing credit, till billing adjust.",
      );
    }
    const at = deps.clock.now();
    const changes = await applyRuling(tx, deps, found, rule(found), at);
    await then?.(tx, deps, found, at);
    tx.afterCommit(() => {
      deps.wake(network.id);
    });
    const decided = changes.find(({ after }) => after.id === paymentId)?.after;
    assert(decided !== undefined, `a decision on ${paymentId} changed nothing`);
    return { payment: decided, transfer, notation: network.kind, tipHeight: state.tipHeight };
  });
}

/**
 * Locks a payment in the ledger's order: its transfer, the invoices of the transfer's payments, their payments. 404 if
 * the organization has no such payment.
 */
export async function lockCase(
  tx: Tx,
  { networks, invoices }: Pick<Deps, "networks" | "invoices">,
  organizationId: Id<"organization">,
  paymentId: Id<"payment">,
): Promise<LockedCase> {
  const named = await findPayment(tx, organizationId, paymentId);
  if (named === null) throw notFound();
  const transfer = await lockTransfer(tx, named.transferId);
  const network = listedNetwork(networks, named.network);
  const state = await networkState(tx, named.network);
  assert(transfer !== null && state !== null, `the chain of ${paymentId} was never read`);
  const claiming = await paymentsOfTransfer(tx, transfer.id);
  const invoiceIds = [...new Set(claiming.map(({ invoiceId }) => invoiceId))].sort();
  const terms = await invoices.lockTerms(tx, invoiceIds);
  const stored = await lockPayments(tx, invoiceIds);
  const payment = stored.find(({ id }) => id === paymentId);
  assert(payment !== undefined, `${paymentId} is not among its invoice's payments`);
  const others = stored.filter(
    ({ id, transferId }) => id !== paymentId && transferId === transfer.id,
  );
  return { payment, transfer, others, network, state, terms, stored };
}

/**
 * Stores a ruling with its effects on the transfer and the invoices, and returns the changed payments. 409
 * `payment_refunded` if more of an invoice's payments would be refunded than it does not need.
 */
export async function applyRuling(
  tx: Tx,
  deps: LedgerDeps,
  found: LockedCase,
  ruling: Ruling,
  at: Instant,
): Promise<readonly PaymentChange[]> {
  const { payment, transfer, others, network, state, terms, stored } = found;
  const ruled = new Map(ruling.payments.map((row) => [row.id, row]));
  const ledger = stored.map((row) => ruled.get(row.id) ?? row);
  requireRefundsCovered(terms, ledger);
  const isLeft = ruling.decision === "rejected" && transfer.disposition === "ignored";
  const after = [payment, ...others].map((row) => ruled.get(row.id) ?? row);
  await assignTransfer(tx, transfer.id, {
    // A transfer keeps its organization, even if another one decides on a payment of it.
    organizationId: transfer.organizationId ?? payment.organizationId,
    ...dispositionAfter(transfer, after, isLeft ? "ignored" : "unmatched"),
  });
  const [first, ...rest] = ruling.payments;
  await noteDecisions(tx, deps.ids, at, ruling.decision, [first]);
  await noteDecisions(tx, deps.ids, at, "rejected", rest);
  return writePayments(
    tx,
    deps,
    { network, state, at },
    terms,
    stored.map((before) => ({ before, after: ruled.get(before.id) ?? before })),
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

function requireReview({ status }: PaymentRow): void {
  if (status === "review") return;
  throw new PaymentNotInReview(
    `Only a payment in review can be accepted or rejected, and this one is ${status}. Read it again to see its current status.`,
  );
}
