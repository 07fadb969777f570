import { bind, type Bound } from "../../../kernel/bind.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { assert, Defect, notFound } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import { networkState } from "../../../platform/chain/state/network-state.ts";
import type { Database, WriteContext } from "../../../platform/database/index.ts";
import { ManagedByBilling } from "../../invoices/index.ts";
import { writePayments } from "../ledger/write-payments.ts";
import {
  assignTransfer,
  findPayment,
  lockTransfer,
  paymentsOfTransfer,
} from "../hash-claims/store.ts";
import type { LedgerDeps } from "../ledger/types.ts";
import { PaymentNotCounted, PaymentNotInReview, TransferAllocated } from "../errors.ts";
import type { PaymentView } from "../present-payment.ts";
import {
  acceptPayment,
  rejectPayment,
  dispositionAfter,
  takenOf,
} from "../ledger/payment-rules.ts";
import { lockPayments } from "../ledger/store.ts";
import type { PaymentRow, TransferRow } from "../table.ts";
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

const methods = { accept, reject, reverse };

export function makePaymentDecisions(deps: Deps): PaymentDecisions {
  return bind(deps, methods);
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
 * record. 409 `payment_not_counted`, `managed_by_billing`.
 */
function reverse(
  deps: Deps,
  context: WriteContext,
  organizationId: Id<"organization">,
  paymentId: Id<"payment">,
): Promise<PaymentView> {
  return decide(deps, context, organizationId, paymentId, ({ payment }) => {
    if (takenOf([payment]) === 0n) {
      throw new PaymentNotCounted(
        payment.status === "review"
          ? "This payment is in review. Reject it instead."
          : `This payment is ${payment.status} and does not count.`,
      );
    }
    return { decision: "reversed", payments: [rejectPayment(payment)] };
  });
}

/** Applies a decision. Locks in the ledger's order: the transfer, the invoices of its payments, their payments. */
function decide(
  deps: Deps,
  context: WriteContext,
  organizationId: Id<"organization">,
  paymentId: Id<"payment">,
  rule: (found: Case) => Ruling,
): Promise<PaymentView> {
  const { db, clock, networks } = deps;
  return db.write(context, async (tx) => {
    const named = await findPayment(tx, organizationId, paymentId);
    if (named === null) throw notFound();
    const transfer = await lockTransfer(tx, named.transferId);
    const network = networks.get(named.network);
    const state = await networkState(tx, named.network);
    assert(transfer !== null && state !== null, `the chain of ${paymentId} was never read`);
    if (network === undefined) throw new Defect(`the network ${named.network} is not configured`);
    const claiming = await paymentsOfTransfer(tx, transfer.id);
    const invoiceIds = [...new Set(claiming.map(({ invoiceId }) => invoiceId))].sort();
    const terms = await deps.invoices.lockTerms(tx, invoiceIds);
    const stored = await lockPayments(tx, invoiceIds);

    const payment = stored.find(({ id }) => id === paymentId);
    assert(payment !== undefined, `${paymentId} is not among its invoice's payments`);
    if (terms.get(payment.invoiceId)?.managedBy === "billing") {
      throw new ManagedByBilling(
        "This payment pays a platform invoice and cannot be changed. Give its payer a credit or an adjustment instead: till billing credit, till billing adjust.",
      );
    }
    const others = stored.filter(
      ({ id, transferId }) => id !== paymentId && transferId === transfer.id,
    );
    const ruling = rule({ payment, transfer, others });
    const ruled = new Map(ruling.payments.map((row) => [row.id, row]));
    const isLeft = ruling.decision === "rejected" && transfer.disposition === "ignored";
    const after = [payment, ...others].map((row) => ruled.get(row.id) ?? row);
    await assignTransfer(tx, transfer.id, {
      // A transfer keeps its organization, even if another one decides on a payment of it.
      organizationId: transfer.organizationId ?? organizationId,
      ...dispositionAfter(transfer, after, isLeft ? "ignored" : "unmatched"),
    });
    const at = clock.now();
    const [first, ...rest] = ruling.payments;
    await noteDecisions(tx, deps.ids, at, ruling.decision, [first]);
    await noteDecisions(tx, deps.ids, at, "rejected", rest);
    const changes = await writePayments(
      tx,
      deps,
      { network, state, at },
      terms,
      stored.map((before) => ({ before, after: ruled.get(before.id) ?? before })),
      new Map([[transfer.id, transfer]]),
    );
    tx.afterCommit(() => {
      deps.wake(network.id);
    });
    const decided = changes.find(({ after }) => after.id === paymentId)?.after;
    assert(decided !== undefined, `a decision on ${paymentId} changed nothing`);
    return { payment: decided, transfer, network, tipHeight: state.tipHeight };
  });
}

function requireReview({ status }: PaymentRow): void {
  if (status === "review") return;
  throw new PaymentNotInReview(
    `Only a payment in review can be accepted or rejected, and this one is ${status}. Read it again to see its current status.`,
  );
}
