import type { Id } from "../../../kernel/id.ts";
import { quoteFor } from "../../invoices/options/quotes.ts";
import type { InvoiceStatus } from "../../invoices/rules.ts";
import type { PayableTerms } from "../../invoices/settlement/terms-to-pay.ts";
import { isCounted, isTaking, shareOfPayments, sumOf, takenOf } from "./payment-rules.ts";
import type { PaymentRow, TransferRow } from "../table.ts";

/** The data that determines the surplus of an invoice's payments. Amounts are in the token's smallest unit. */
export interface SurplusInputs {
  readonly status: InvoiceStatus;
  readonly terms: Pick<
    PayableTerms,
    "askedAmount" | "excessSlack" | "payableAmount" | "quotes" | "managedBy"
  >;
  /** Every payment of the invoice. */
  readonly ledger: readonly SurplusPayment[];
}

/** The transfer of a payment, with every payment of it, of any invoice. */
interface PaymentSource {
  readonly transfer: Pick<TransferRow, "amount" | "status">;
  readonly payments: readonly SurplusPayment[];
}

/** The fields of a payment that its surplus depends on. */
export type SurplusPayment = Pick<
  PaymentRow,
  | "id"
  | "network"
  | "token"
  | "status"
  | "statusWhenBack"
  | "amount"
  | "refundRequested"
  | "refunded"
  | "blockHeight"
  | "blockTime"
>;

/**
 * Returns the part of a payment that its invoice does not need, before refunds: the overpaid part once the invoice is
 * paid, and all of it if the invoice is expired or canceled without being paid, or the payment does not count. While an
 * invoice can still be paid, its payments have no surplus, except those that were rejected. Managed invoices have none:
 * the feature that manages them turns it into credit. Requested refunds of other payments take nothing: only the one that
 * is sent does.
 */
export function surplusOf(
  payment: SurplusPayment,
  inputs: SurplusInputs,
  source: PaymentSource,
): bigint {
  if (inputs.terms.managedBy !== null) return 0n;
  if (isCounted(payment)) {
    // A payment that is not confirmed may never have happened: money that is there is not returned for it.
    const isThere = ({ id, status }: SurplusPayment) => status === "confirmed" || id === payment.id;
    return countedSurplus(payment, inputs, isThere);
  }
  const isDecided = payment.status === "rejected" || !isPayable(inputs.status);
  if (!isDecided || payment.status === "reverted" || source.transfer.status !== "seen") return 0n;
  const others = source.payments.filter(({ id }) => id !== payment.id);
  return smaller(payment.amount, source.transfer.amount - takenOf(others));
}

/**
 * Returns the surplus that a payment has once the invoice's payments are all confirmed and back on the chain, before
 * refunds: 0 if waiting gives it none. An invoice that waits for its payments is then paid, or needs all of them.
 */
export function surplusInTime(
  payment: SurplusPayment,
  { status, terms, ledger }: SurplusInputs,
  source: PaymentSource,
): bigint {
  const inTimeLedger = ledger.map(inTime);
  const inputs = {
    status: isPayable(status) ? ("paid" as const) : status,
    terms,
    ledger: inTimeLedger,
  };
  const transfer = { ...source.transfer, status: "seen" as const };
  // The merchant decides about a payment in review, however long one waits.
  if (isPayable(status) && inTime(payment).status === "review") return 0n;
  return surplusOf(inTime(payment), inputs, { ...source, transfer });
}

/** Returns a payment as it is once it is back on the chain and, if it counts, confirmed. */
function inTime<P extends SurplusPayment>(payment: P): P {
  if (isTaking(payment)) return { ...payment, status: "confirmed", statusWhenBack: null };
  return payment.status === "reverted" ? { ...payment, status: "review" } : payment;
}

/**
 * Returns the surplus of a payment that counts, beside the other payments that pay the invoice. The newest payments of a
 * paid invoice have its excess, less what was refunded of the others: after a reorganization a refunded payment may be the
 * older one.
 */
function countedSurplus(
  payment: SurplusPayment,
  { status, terms, ledger }: SurplusInputs,
  pays: (other: SurplusPayment) => boolean,
): bigint {
  if (status === "expired" || status === "canceled") return payment.amount;
  if (status !== "paid") return 0n;
  const isLater = terms.quotes.length < 2 ? isAbove : isYounger;
  const upTo = ledger
    .filter((other) => pays(other) && !isLater(other, payment))
    .map((other) => (other.id === payment.id ? other : withoutRefunds(other)));
  return smaller(payment.amount, excessOf(upTo, terms, payment));
}

function withoutRefunds<P extends SurplusPayment>(payment: P): P {
  return { ...payment, amount: payment.amount - payment.refunded };
}

/**
 * Whether the payments that count, once all are back on the chain, are worth what was asked for without what was refunded
 * of them.
 */
export function isPaidBesideRefunds({
  terms,
  ledger,
}: Pick<SurplusInputs, "terms" | "ledger">): boolean {
  const { quotes, askedAmount, payableAmount } = terms;
  const left = ledger.map(inTime).filter(isCounted).map(withoutRefunds);
  if (quotes.length < 2) return sumOf(left) >= askedAmount;
  const { numerator, denominator } = shareOfPayments(left, terms);
  return numerator * payableAmount >= askedAmount * denominator;
}

/**
 * Returns what payments are worth above the most that was asked for, in the token of one of them, rounded down. An excess
 * of at most `excessSlack` is none; a larger one is returned as a whole.
 */
function excessOf(
  payments: readonly SurplusPayment[],
  terms: SurplusInputs["terms"],
  payment: SurplusPayment,
): bigint {
  const { quotes, askedAmount, excessSlack, payableAmount } = terms;
  if (quotes.length < 2) {
    const above = sumOf(payments) - askedAmount;
    return above > excessSlack ? above : 0n;
  }
  const quote = quoteFor(quotes, payment);
  if (quote === undefined) return 0n;
  const { numerator, denominator } = shareOfPayments(payments, terms);
  const excess = numerator * payableAmount - askedAmount * denominator;
  if (excess <= excessSlack * denominator) return 0n;
  return (excess * quote.payableAmount) / (denominator * payableAmount);
}

/** Whether an invoice can still become paid, so that its payments wait for it. */
export function isPayable(status: InvoiceStatus): boolean {
  return status === "open" || status === "partially_paid" || status === "confirming";
}

function isAbove(one: SurplusPayment, other: SurplusPayment): boolean {
  return (
    one.blockHeight > other.blockHeight ||
    (one.blockHeight === other.blockHeight && one.id > other.id)
  );
}

/**
 * The order of payments on several networks, whose heights cannot be compared. It is the same for all of them: an order
 * by heights within each network could have circles, and the surpluses of a circle exceed the excess.
 */
function isYounger(one: SurplusPayment, other: SurplusPayment): boolean {
  return (
    one.blockTime > other.blockTime || (one.blockTime === other.blockTime && isAbove(one, other))
  );
}

/** Returns the smaller amount; at least 0. */
function smaller(one: bigint, other: bigint): bigint {
  const least = one < other ? one : other;
  return least > 0n ? least : 0n;
}

/**
 * Returns the part of a payment's surplus that its refunds leave, in token units; 0 if it is a part below the dust of the
 * invoice's issue, which nobody can send.
 */
export function freeOf(
  surplus: bigint,
  payment: SurplusPayment,
  { quotes }: Pick<SurplusInputs["terms"], "quotes">,
): bigint {
  const free = surplus - payment.refundRequested - payment.refunded;
  const dust = quoteFor(quotes, payment)?.dustAmount ?? 0n;
  return free > 0n && (free >= dust || free === payment.amount) ? free : 0n;
}

/**
 * Whether a payer may ask for a refund of a payment. A payment that the merchant rejected and that no rule had matched
 * is probably somebody else's: only the merchant refunds it.
 */
export function mayBeRequested({ status, rule }: Pick<PaymentRow, "status" | "rule">): boolean {
  return status !== "rejected" || (rule !== "submitted_hash" && rule !== "manual");
}

/**
 * Compares payments in the order in which their payer is offered the refunds: the newest first, and after all others those
 * whose hash was submitted, which may be somebody else's.
 */
export function compareToRefund(
  one: Pick<PaymentRow, "id" | "rule">,
  other: Pick<PaymentRow, "id" | "rule">,
): number {
  const isSubmitted = Number(one.rule === "submitted_hash");
  const byRule = isSubmitted - Number(other.rule === "submitted_hash");
  return byRule !== 0 ? byRule : one.id < other.id ? 1 : -1;
}

/** A payment as far as its payer's refund depends on it. */
export interface PayerSurplusPayment extends SurplusPayment, Pick<PaymentRow, "rule"> {
  /** True if its transfer is verified in a final block, and no other payment has a part of it. */
  readonly isSpare: boolean;
}

/**
 * Returns the part of a payment whose refund a payer is offered, in token units; 0 unless it is confirmed, and its invoice
 * cannot become paid any more. A payment that does not count is not offered if another payment has a part of its
 * transfer; its payer may still ask.
 */
export function freeSurplus(payment: PayerSurplusPayment, inputs: SurplusInputs): bigint {
  const isConfirmed = isCounted(payment) ? payment.status === "confirmed" : payment.isSpare;
  if (!isConfirmed || isPayable(inputs.status) || !mayBeRequested(payment)) return 0n;
  const transfer = { amount: payment.amount, status: "seen" } as const;
  const surplus = surplusOf(payment, inputs, { transfer, payments: [payment] });
  return freeOf(surplus, payment, inputs.terms);
}

/** Returns the payments that count of which more was refunded than the invoice, if paid, would not need. */
export function overRefunded({
  terms,
  ledger,
}: Pick<SurplusInputs, "terms" | "ledger">): readonly Id<"payment">[] {
  const inputs = { status: "paid", terms, ledger } as const;
  return ledger
    .filter(
      (payment) =>
        isCounted(payment) && payment.refunded > countedSurplus(payment, inputs, isCounted),
    )
    .map(({ id }) => id);
}
