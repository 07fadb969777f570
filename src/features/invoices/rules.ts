import { minute, type Instant } from "../../kernel/clock.ts";
import { divideRounded, type Ratio } from "../../kernel/money/ratio.ts";
import type { Aside } from "./settlement/owed.ts";

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

/** The sums of the payments of one option, in its token's smallest unit. */
interface QuoteTotals {
  readonly network: string;
  readonly tokenSymbol: string;
  readonly seen: bigint;
  readonly confirmed: bigint;
  readonly latestBlock: number | null;
}

/** The totals of an invoice whose payer has chosen several options. */
interface TotalsOfSeveral {
  /** The worth of the counted payments, in the smallest unit of the settlement currency. */
  readonly paidAmount: bigint;
  readonly quotes: readonly QuoteTotals[];
}

/**
 * The totals of an invoice's payments, as the payment ledger computes them. Amounts are in the smallest unit of the
 * token in force, to which amounts in other tokens are converted at the rates of their holds.
 */
export interface PaymentTotals {
  /** Confirming and confirmed payments. */
  readonly seen: bigint;
  readonly confirmed: bigint;
  /** True if a payment came after the deadline, or for a canceled invoice. */
  readonly isLate: boolean;
  /** True if a reorganization removed a counted payment that has not returned. */
  readonly isReverted: boolean;
  /** The block of the counted payment with the fewest confirmations, on the network in force. */
  readonly latestBlock: number | null;
  /** The block time of the payment that completed the amount. */
  readonly completedAt: Instant | null;
  /**
   * The transactions of the counted payments, without duplicates, in the order of the payments: 64 lower-case
   * hexadecimal digits each.
   */
  readonly transactionHashes: readonly string[];
  /** The network of each transaction; absent if all are on the network in force, or shown already. */
  readonly networkOf?: ReadonlyMap<string, string>;
  /** Absent if the invoice has the holds of one option only. */
  readonly several?: TotalsOfSeveral;
  /** Payments that were rejected or are in review, and refunds, by token. */
  readonly aside: readonly Aside[];
}

export const noPayments: PaymentTotals = {
  seen: 0n,
  confirmed: 0n,
  isLate: false,
  isReverted: false,
  latestBlock: null,
  completedAt: null,
  transactionHashes: [],
  aside: [],
};

/** The terms of an invoice that decide its status. */
export interface Terms {
  /** The current status. An expired invoice reopens only if its deadline is at least `reopensMs` ahead. */
  readonly status: InvoiceStatus;
  readonly issued: {
    /** In the smallest unit of the settlement currency. */
    readonly amount: bigint;
    /** In the token's smallest unit. */
    readonly payableAmount: bigint;
    /** The most that the payer was asked for in total: the rest of a partially paid invoice may carry a surcharge. */
    readonly askedAmount: bigint;
    /** The largest excess above `askedAmount` that is not an overpayment. */
    readonly excessSlack: bigint;
    /** The minimum that pays the invoice, in the token's smallest unit. */
    readonly dueAmount: bigint;
    /** The minimum that pays all of it: the rest is rounded. */
    readonly wholeAmount: bigint;
    readonly expiresAt: Instant;
  } | null;
  readonly canceledAt: Instant | null;
}

interface InvoiceState {
  readonly status: InvoiceStatus;
  readonly exception: InvoiceException;
  /** The block time of the payment that completed the amount; null while the invoice is not paid. */
  readonly paidAt: Instant | null;
}

/** Returns the minimum that pays an invoice. The tolerance is a fraction of 1. A fractional unit is rounded up. */
export function dueAmount(payableAmount: bigint, tolerance: Ratio): bigint {
  return divideRounded(
    payableAmount * (tolerance.denominator - tolerance.numerator),
    tolerance.denominator,
    "up",
  );
}

/**
 * The minimum time by which the deadline of an expired invoice must be ahead to reopen it: then a wrong clock or block
 * time expired it. A reorganization moves the chain's time back by seconds only and reopens nothing.
 */
export const reopensMs = minute;

/**
 * Returns the status and exception of an invoice: a function of its terms, its payments, and the time that decides
 * deadlines (`deadlineTime`), so that an invoice expires neither while the chain is not being read nor because of a
 * block time in the future.
 */
export function invoiceStateOf(terms: Terms, totals: PaymentTotals, time: Instant): InvoiceState {
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

/** Returns the first exception that applies. */
function exceptionOf(
  status: InvoiceStatus,
  { issued }: Terms,
  totals: PaymentTotals,
): InvoiceException {
  if (totals.isReverted) return "reverted";
  if (totals.isLate) return "late";
  if (issued === null) return "none";
  if (totals.seen > issued.askedAmount + issued.excessSlack) return "overpaid";
  // While more payments are expected, the invoice is not underpaid yet.
  const isOver = status !== "open" && status !== "partially_paid";
  return isOver && totals.seen > 0n && lacksAny(issued, totals) ? "underpaid" : "none";
}

/**
 * Returns true if more is missing than is rounded. With several options the value of all payments decides: in coarse
 * tokens, the least that the merchant tolerates can be rounded up to the whole price.
 */
function lacksAny({ amount, wholeAmount }: NonNullable<Terms["issued"]>, totals: PaymentTotals) {
  const { seen, several } = totals;
  return several === undefined ? seen < wholeAmount : several.paidAmount < amount;
}

/**
 * Returns the confirmations of the least confirmed payment, at most the required number. A paid invoice always shows
 * the required number.
 */
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

/** The state of an invoice and its payments before or after a change. */
export interface Moment {
  readonly status: InvoiceStatus;
  readonly exception: InvoiceException;
  readonly seen: bigint;
  /** The money owed to the payer, and the money that waits for the merchant's decision. */
  readonly owed: bigint;
  readonly inReview: bigint;
}

type InvoiceChange =
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
 * Returns the events of a change of an invoice's payments or deadline; none if nothing notable changed. `invoice.paid`
 * is emitted whenever an invoice becomes paid, whatever follows; a notable way of payment adds an event
 * of its own.
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
  const isNews =
    after.exception !== before.exception ||
    after.owed !== before.owed ||
    after.inReview !== before.inReview;
  return isNews ? ["invoice.updated"] : [];
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
    /* c8 ignore next: a draft has no payments. */
    case "draft":
    case "open":
    case "canceled":
      // Only a decision that withdraws a payment leads here; the chain never does.
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

/** Characters of the reference; 40 random bits, so that two invoices of a merchant hardly ever share one. */
const referenceLength = 8;
const publicIdPrefix = "ipub_";

/**
 * Returns the short reference that a payer quotes to the merchant: the first characters of the invoice's public id, such
 * as `P7K2-9QXD`.
 */
export function referenceOf(publicId: string): string {
  const digits = publicId.slice(publicIdPrefix.length).replaceAll("-", "");
  const shown = digits.slice(0, referenceLength).toUpperCase();
  return `${shown.slice(0, 4)}-${shown.slice(4)}`;
}

/**
 * Returns the beginning of the public ids that have the reference in a search, ASCII letters in lower case; null if the
 * text is not a reference. People may leave out the hyphen, and read 0 as o, and 1 as i or l: the ids have none of these
 * letters.
 */
export function publicIdBeginning(folded: string): string | null {
  if (!/^[0-9a-z]{4}[ -]?[0-9a-z]{4}$/.test(folded)) return null;
  const digits = folded.replace(/[ -]/, "").replaceAll("o", "0").replaceAll(/[il]/g, "1");
  return publicIdPrefix + digits;
}
