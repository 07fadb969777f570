import { minute, type Instant } from "../../kernel/clock.ts";
import type { Ratio } from "../../kernel/ratio.ts";
import { divideRounded } from "../../kernel/ratio.ts";

export const invoiceStatuses = [
  "draft",
  "open",
  "partially_paid",
  "confirming",
  "paid",
  "expired",
  "canceled",
] as const;
export type InvoiceStatus = (typeof invoiceStatuses)[number];

export const invoiceExceptions = ["none", "underpaid", "overpaid", "late", "reverted"] as const;
export type InvoiceException = (typeof invoiceExceptions)[number];

/** An invoice's payments together, as its payments' ledger sums them; amounts in the token's smallest unit. */
export interface PaymentTotals {
  /** Confirming and confirmed. */
  readonly seen: bigint;
  readonly confirmed: bigint;
  /** Money that came after the deadline, or for a canceled invoice. */
  readonly isLate: boolean;
  /** A reorganisation took counted money away, and it is not back. */
  readonly isReverted: boolean;
  /** The block of the least confirmed counted payment. */
  readonly latestBlock: number | null;
  /** The block time of the payment that made it whole. */
  readonly completedAt: Instant | null;
  /** Of the counted payments, each transaction once, the first payment's first: 64 lower-case hex digits. */
  readonly transactionHashes: readonly string[];
}

export const noPayments: PaymentTotals = {
  seen: 0n,
  confirmed: 0n,
  isLate: false,
  isReverted: false,
  latestBlock: null,
  completedAt: null,
  transactionHashes: [],
};

/** What an invoice asks for, as far as its status goes. */
export interface Terms {
  /** The status until now: an expired invoice opens again only where its deadline is `reopensMs` ahead. */
  readonly status: InvoiceStatus;
  readonly issued: {
    /** In the token's smallest unit. */
    readonly payableAmount: bigint;
    /** The most that the payer was asked for in total: the rest of a partly paid invoice may carry a surcharge. */
    readonly askedAmount: bigint;
    /** From which on the invoice is whole. */
    readonly dueAmount: bigint;
    readonly expiresAt: Instant;
  } | null;
  readonly canceledAt: Instant | null;
}

export interface Standing {
  readonly status: InvoiceStatus;
  readonly exception: InvoiceException;
  /** The block time of the payment that made it whole; null while it is not paid. */
  readonly paidAt: Instant | null;
}

/** The least that counts as whole. The tolerance is a fraction of one; a fraction of a unit is still owed. */
export function dueAmount(payableAmount: bigint, tolerance: Ratio): bigint {
  return divideRounded(
    payableAmount * (tolerance.denominator - tolerance.numerator),
    tolerance.denominator,
    "up",
  );
}

/**
 * How far ahead the deadline of an expired invoice must be to open it again: a wrong clock or block time expired it. A
 * reorganisation sets the chain's time back by seconds and opens nothing.
 */
export const reopensMs = minute;

/**
 * Where an invoice stands: derived from what it asks for, what was paid, and the time by which deadlines are decided
 * (`deadlineTime`), so that it neither expires while nobody looks at the chain nor by a lie about the future.
 */
export function standingOf(terms: Terms, totals: PaymentTotals, time: Instant): Standing {
  const status = statusOf(terms, totals, time);
  return {
    status,
    exception: exceptionOf(status, terms, totals),
    paidAt: status === "paid" ? (totals.completedAt ?? time) : null,
  };
}

function statusOf(terms: Terms, totals: PaymentTotals, time: Instant): InvoiceStatus {
  const { issued, canceledAt } = terms;
  if (issued === null) return canceledAt === null ? "draft" : "canceled";
  if (totals.confirmed >= issued.dueAmount) return "paid";
  if (totals.seen >= issued.dueAmount) return "confirming";
  if (canceledAt !== null) return "canceled";
  const isOver =
    terms.status === "expired" ? time > issued.expiresAt - reopensMs : time > issued.expiresAt;
  if (isOver) return "expired";
  return totals.seen > 0n ? "partially_paid" : "open";
}

/** The first that holds. */
function exceptionOf(
  status: InvoiceStatus,
  { issued }: Terms,
  totals: PaymentTotals,
): InvoiceException {
  if (totals.isReverted) return "reverted";
  if (totals.isLate) return "late";
  if (issued === null) return "none";
  if (totals.seen > issued.askedAmount) return "overpaid";
  // What is still waited for is not short yet.
  const isOver = status !== "open" && status !== "partially_paid";
  return isOver && totals.seen > 0n && totals.seen < issued.payableAmount ? "underpaid" : "none";
}

/**
 * What paid tokens are worth in the settlement currency: rounded down, so that paying exactly gives exactly the
 * amount. Nothing is payable before the issue, and nothing is paid then.
 */
export function settlementOf(seen: bigint, amount: bigint, payableAmount: bigint | null): bigint {
  if (payableAmount === null || payableAmount === 0n) return 0n;
  return (seen * amount) / payableAmount;
}

/** How far the least confirmed payment is, at most what is required; a paid invoice needs no more. */
export function confirmationsShown(
  invoice: {
    readonly status: InvoiceStatus;
    readonly latestBlock: number | null;
    readonly requiredConfirmations: number;
  },
  tipHeight: number | null,
): number {
  const { status, latestBlock, requiredConfirmations: required } = invoice;
  if (status === "paid") return required;
  if (latestBlock === null || tipHeight === null) return 0;
  return Math.min(required, Math.max(0, tipHeight - latestBlock + 1));
}

/** What an invoice and its payments looked like around a change. */
export interface Moment {
  readonly status: InvoiceStatus;
  readonly exception: InvoiceException;
  readonly seen: bigint;
}

export type InvoiceChange =
  | "invoice.payment_detected"
  | "invoice.partially_paid"
  | "invoice.confirming"
  | "invoice.paid"
  | "invoice.overpaid"
  | "invoice.underpaid"
  | "invoice.paid_late"
  | "invoice.reverted"
  | "invoice.expired"
  | "invoice.updated";

/**
 * The events that tell of a change of an invoice's payments or deadline, none where there is nothing to tell. Whoever
 * ships on `invoice.paid` hears it whenever an invoice becomes paid; how it was paid, where that is remarkable, is an
 * event of its own beside it.
 */
export function changesBetween(before: Moment, after: Moment): readonly InvoiceChange[] {
  if (after.seen < before.seen) {
    return [after.exception === "reverted" ? "invoice.reverted" : "invoice.updated"];
  }
  if (after.exception === "reverted" && before.exception !== "reverted")
    return ["invoice.reverted"];
  if (after.status !== before.status) {
    const remarkable = after.status === "paid" ? paidRemarks[after.exception] : null;
    return remarkable === null ? [changeTo(after)] : [changeTo(after), remarkable];
  }
  if (after.exception !== before.exception && after.exception === "overpaid") {
    return ["invoice.overpaid"];
  }
  if (after.seen > before.seen) return ["invoice.payment_detected"];
  return after.exception === before.exception ? [] : ["invoice.updated"];
}

function changeTo({ status }: Moment): InvoiceChange {
  switch (status) {
    case "partially_paid":
      return "invoice.partially_paid";
    case "confirming":
      return "invoice.confirming";
    case "expired":
      return "invoice.expired";
    case "paid":
      return "invoice.paid";
    case "draft":
    case "open":
    case "canceled":
      // Only by a decision that took money back: no chain does this.
      return "invoice.updated";
  }
}

const paidRemarks: Readonly<Record<InvoiceException, InvoiceChange | null>> = {
  none: null,
  reverted: null,
  overpaid: "invoice.overpaid",
  underpaid: "invoice.underpaid",
  late: "invoice.paid_late",
};
