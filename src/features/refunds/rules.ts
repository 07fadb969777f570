import { minute, second } from "../../kernel/clock.ts";
import { finalConfirmations } from "../../platform/chain/networks.ts";
import { confirmationsOf } from "../../platform/chain/state/network-state.ts";
import { isCounted } from "../payments/ledger/payment-rules.ts";
import type { RefundablePayment } from "../payments/refundable.ts";
import { NotRefundable, RefundNotRequested, RefundTooEarly } from "./errors.ts";
import type { RefundRow } from "./store.ts";

/** The number of payers' requests for a refund of one payment that the merchant rejects before payers can ask for none. */
export const rejectedRequestsMax = 3;

/**
 * Throws 409 `not_refundable` if the payment, of which no refund is requested, has no surplus and waiting gives it none,
 * and `refund_too_early` unless it is confirmed and verified.
 */
export function requireRefundable(found: RefundablePayment): void {
  const { payment, free } = found;
  if (found.surplusInTime <= payment.refunded) throw new NotRefundable(neededFor(found));
  requireConfirmed(found);
  if (free > 0n) return;
  const waiting = found.stored.find(
    ({ id, invoiceId, status }) =>
      id !== payment.id && invoiceId === payment.invoiceId && status === "confirming",
  );
  if (waiting !== undefined && found.surplus <= 0n) {
    throw tooEarly(
      found,
      `${waiting.id} of the same invoice is not confirmed and may not have happened. Until it is confirmed, the invoice needs all of ${payment.id}; afterwards its newest payments have the excess. Do not send anything before.`,
    );
  }
  throw new NotRefundable(neededFor(found));
}

/**
 * Throws 409 `not_refundable` if the payment no longer has the surplus for the refunds that are requested and were sent,
 * and `refund_too_early` unless it is confirmed and verified.
 */
export function requireStillRefundable(found: RefundablePayment): void {
  const { payment, surplus, surplusInTime } = found;
  const given = payment.refundRequested + payment.refunded;
  if (given <= surplusInTime) requireConfirmed(found);
  if (given <= surplus) return;
  throw new NotRefundable(
    "The payment no longer has this surplus: its invoice needs it, or another refund took it. Do not send anything before you have read both.",
  );
}

/** Throws 409 `refund_not_requested` unless the refund is requested, or its transaction is in no block. */
export function requireChangeable({
  id,
  status,
  blockHash,
}: Pick<RefundRow, "id" | "status" | "blockHash">): void {
  if (status === "requested" || (status === "sent" && blockHash === null)) return;
  throw new RefundNotRequested(
    status === "sent"
      ? `The transaction of ${id} is in a block already. Wait until it is final.`
      : `${id} is ${status}. Only a refund that is requested can be sent or rejected, or one that was sent whose transaction is in no block yet.`,
  );
}

/** Returns what takes the amount of a payment that has nothing to refund. */
function neededFor({ payment, surplusInTime, stored }: RefundablePayment): string {
  const { id, invoiceId, status, statusWhenBack } = payment;
  if (status === "review" || statusWhenBack === "review") {
    return `${id} is in review, and its invoice can still be paid. Reject the payment first (POST …/payments/${id}/reject), then refund it.`;
  }
  if (surplusInTime > 0n || status === "rejected") {
    return `All of the surplus of ${id} is refunded already, or belongs to another payment of its transfer. Less than the token's minimum amount cannot be sent.`;
  }
  const isAlone = stored.every(
    (other) => other.id === id || other.invoiceId !== invoiceId || !isCounted(other),
  );
  const others = `If the invoice has an excess, another of its payments has it (GET …/payments?invoiceId=${invoiceId}): refund that one. `;
  return `Its invoice needs all of ${id}. ${isAlone ? "" : others}To return the money of an order that you do not deliver, reverse the payment first (POST …/payments/${id}/reverse), then refund it. Less than the token's minimum amount, which may be an excess, cannot be sent.`;
}

/** Throws 409 `refund_too_early`, with what is missing, unless the payment is confirmed and verified. */
function requireConfirmed(found: RefundablePayment): void {
  if (found.isConfirmed && found.isVerified) return;
  throw tooEarly(found, missingOf(found));
}

/** The shortest time after which a refund that was too early is worth another request, in seconds. */
const tooEarlySeconds = minute / second;

/** Returns the confirmations that a payment has, and about how many it needs for a refund. */
export function confirmationsForRefund({ payment, network, state }: RefundablePayment) {
  return {
    has: confirmationsOf(state.tipHeight, payment.blockHeight),
    needed: isCounted(payment) ? payment.requiredConfirmations : finalConfirmations(network),
  };
}

/** Returns the problem of a payment that may be refundable later, with the time that its missing blocks take. */
export function tooEarly(found: RefundablePayment, detail: string): Error {
  const { network } = found;
  const { has, needed } = confirmationsForRefund(found);
  const missing = needed - has;
  const blocksSeconds = Math.ceil((missing * network.blockTimeMs) / second);
  return new RefundTooEarly(detail, {
    retryAfterSeconds: Math.max(tooEarlySeconds, blocksSeconds),
  });
}

/** Returns what a payment lacks that is not confirmed or not verified yet. */
function missingOf(found: RefundablePayment): string {
  const { payment, transfer } = found;
  const { id } = payment;
  if (transfer.status !== "seen") {
    return `${id} is not on the chain: a reorganization removed it. Wait until it is included again.`;
  }
  const { has, needed } = confirmationsForRefund(found);
  if (isCounted(payment)) {
    if (has < needed) {
      return `${id} has ${String(has)} of its ${String(needed)} confirmations. Try again once it is confirmed.`;
    }
  } else if (!transfer.isFinal) {
    // Providers are asked about the transfer of a payment that does not count once its block is final.
    return `${id} counts for no invoice, so its block must be final before it is refunded: at about ${String(needed)} confirmations. It has ${String(has)}. Try again later.`;
  }
  return `The network's providers have not agreed on the transfer of ${id} yet. Till keeps asking them: try again in a minute. If this lasts, its money may not have come: look the transaction up in a block explorer and ask the operator; do not send anything before.`;
}
