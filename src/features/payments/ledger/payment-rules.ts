import type { Instant } from "../../../kernel/clock.ts";
import { assert } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import {
  addShare,
  noShare,
  quoteFor,
  roundedShare,
  tokensOf,
  worthOf,
  type Share,
} from "../../invoices/options/quotes.ts";
import type { PayableTerms } from "../../invoices/settlement/terms-to-pay.ts";
import type { PaymentTotals } from "../../invoices/rules.ts";
import type { ChainDiffInput, Match, PaymentChange } from "./types.ts";
import type { PaymentSource, PaymentStatus } from "../payment-status.ts";
import type { PaymentRow, TransferRow } from "../table.ts";

/** Returns true if a payment counts toward its invoice. */
export function isCounted(payment: Pick<PaymentRow, "status">): boolean {
  return payment.status === "confirming" || payment.status === "confirmed";
}

/** Returns true if the network's providers have verified the transfer of a payment, which confirmation includes. */
export function isVerified(
  payment: Pick<PaymentRow, "status">,
  transfer: Pick<TransferRow, "verification">,
): boolean {
  return payment.status === "confirmed" || transfer.verification === "verified";
}

/** Returns a new payment of a transfer for the matched invoice; `computeLedger` sets its settlement amount. */
export function openPayment(given: {
  readonly id: Id<"payment">;
  readonly transfer: TransferRow;
  readonly match: Match;
  readonly terms: PayableTerms;
  readonly source: PaymentSource;
  /** The assigned part of the transfer; by default all of it. */
  readonly amount?: bigint;
  readonly at: Instant;
}): PaymentRow {
  const { transfer, match, terms } = given;
  const quote = quoteFor(terms.quotes, transfer);
  assert(quote !== undefined, `${match.invoiceId} has no rate for ${transfer.token}`);
  const { tokenDecimals, requiredConfirmations, exchangeRate, walletId } = quote;
  return {
    id: given.id,
    organizationId: match.organizationId,
    invoiceId: match.invoiceId,
    transferId: transfer.id,
    transactionHash: transfer.transactionHash,
    network: transfer.network,
    token: transfer.token,
    amount: given.amount ?? transfer.amount,
    settlementAmount: 0n,
    roundingAmount: 0n,
    settlementCurrency: terms.settlementCurrency,
    settlementDecimals: terms.settlementDecimals,
    tokenDecimals,
    exchangeRate,
    walletId,
    rule: match.rule,
    source: given.source,
    status: firstStatus(transfer.blockTime, terms),
    statusWhenBack: null,
    blockHeight: transfer.blockHeight,
    blockHash: transfer.blockHash,
    blockTime: transfer.blockTime,
    requiredConfirmations,
    confirmsAtHeight: confirmsAt(transfer.blockHeight, requiredConfirmations),
    refundRequested: 0n,
    refunded: 0n,
    version: 1,
    createdAt: given.at,
    confirmedAt: null,
  };
}

/**
 * Returns the status of a new payment. Payments for a canceled invoice wait for the merchant's review, and so do late
 * payments if the policy says so. A managed invoice, such as a collection invoice, takes every payment.
 */
export function firstStatus(blockTime: Instant, terms: PayableTerms): "confirming" | "review" {
  if (terms.managedBy !== null) return "confirming";
  if (terms.isCanceled) return "review";
  return blockTime > terms.expiresAt && terms.latePolicy === "review" ? "review" : "confirming";
}

function confirmsAt(blockHeight: number, requiredConfirmations: number): number {
  return blockHeight + requiredConfirmations - 1;
}

/** Returns true if a payment has its required confirmations at a tip and is not confirmed yet. */
export function isMature(payment: PaymentRow, tipHeight: number): boolean {
  return payment.status === "confirming" && payment.confirmsAtHeight <= tipHeight;
}

/** Returns the stored payments as the changed transfers and the verified receipts leave them. */
export function followTransfers(
  stored: readonly PaymentRow[],
  { moved, orphaned }: Readonly<Record<"moved" | "orphaned", readonly TransferRow[]>>,
  input: Pick<ChainDiffInput, "verified" | "state" | "at">,
): PaymentChange[] {
  const movedById = new Map(moved.map((row) => [row.id, row]));
  const orphanedIds = new Set(orphaned.map(({ id }) => id));
  const verified = new Map(input.verified.map(({ payment }) => [payment.id, payment.blockHash]));
  const follow = (payment: PaymentRow): PaymentRow => {
    if (orphanedIds.has(payment.transferId)) return revertPayment(payment);
    const transfer = movedById.get(payment.transferId);
    if (transfer !== undefined) return movePayment(payment, transfer);
    // The payment may have changed since its receipt was read.
    const isVerified = verified.get(payment.id) === payment.blockHash;
    const mayConfirm = isVerified && isMature(payment, input.state.tipHeight);
    return mayConfirm ? confirmPayment(payment, input.at) : payment;
  };
  return stored.map((before) => ({ before, after: follow(before) }));
}

/** Reverts a payment whose transfer a reorganization removed. A rejected payment stays rejected. */
export function revertPayment(payment: PaymentRow): PaymentRow {
  if (payment.status === "rejected" || payment.status === "reverted") return payment;
  const statusWhenBack = payment.status === "review" ? "review" : "confirming";
  return { ...payment, status: "reverted", statusWhenBack, confirmedAt: null };
}

/**
 * Moves a payment to another block, possibly after its transfer was off the chain: its confirmations start over. If only
 * the block's time was corrected, it keeps its confirmations.
 */
export function movePayment(
  payment: PaymentRow,
  block: Pick<TransferRow, "blockHeight" | "blockHash" | "blockTime">,
): PaymentRow {
  const isSameBlock = payment.blockHash === block.blockHash && payment.status !== "reverted";
  if (isSameBlock) return { ...payment, blockTime: block.blockTime };
  return {
    ...payment,
    status: statusWhenMoved(payment),
    statusWhenBack: null,
    blockHeight: block.blockHeight,
    blockHash: block.blockHash,
    blockTime: block.blockTime,
    confirmsAtHeight: confirmsAt(block.blockHeight, payment.requiredConfirmations),
    confirmedAt: null,
  };
}

function statusWhenMoved(payment: PaymentRow): PaymentStatus {
  if (payment.status === "reverted") return payment.statusWhenBack ?? "confirming";
  return payment.status === "confirmed" ? "confirming" : payment.status;
}

export function confirmPayment(payment: PaymentRow, at: Instant): PaymentRow {
  return { ...payment, status: "confirmed", confirmedAt: at };
}

interface ComputedLedger {
  readonly payments: readonly PaymentRow[];
  readonly totals: PaymentTotals;
}

/**
 * Computes the totals of an invoice's payments, and each payment's settlement amount: the difference that it makes to
 * the settlement amount of all, so that they add up to the invoice's paid amount to the last unit, in whatever tokens
 * they are (docs/decisions/0042). A payment that does not count is worth its amount alone: nothing is rounded for it.
 */
export function computeLedger(
  payments: readonly PaymentRow[],
  terms: PayableTerms,
): ComputedLedger {
  const inOrder = payments.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const seen = shareOfPayments(inOrder.filter(isCounted), terms);
  let before = noShare;
  const valued = inOrder.map((payment): PaymentRow => {
    if (payment.status === "review") {
      return { ...payment, settlementAmount: plainWorth(seen, payment, terms), roundingAmount: 0n };
    }
    if (!isCounted(payment)) {
      if (payment.roundingAmount === 0n) return payment;
      const settlementAmount = plainWorth(noShare, payment, terms);
      return { ...payment, settlementAmount, roundingAmount: 0n };
    }
    const settlementAmount = worthAfter(before, payment, terms);
    const roundingAmount = roundingAfter(before, payment, terms);
    before = plusPayment(before, payment, terms);
    return { ...payment, settlementAmount, roundingAmount };
  });
  return { payments: valued, totals: totalsOf(inOrder, terms) };
}

type PaidIn = Pick<PaymentRow, "network" | "token" | "amount">;
type ShareTerms = Pick<PayableTerms, "quotes">;

/** Adds a payment to the share of the invoice that is paid; nothing for a token that the invoice has no rate for. */
export function plusPayment(share: Share, payment: PaidIn, { quotes }: ShareTerms): Share {
  const quote = quoteFor(quotes, payment);
  return quote === undefined ? share : addShare(share, payment.amount, quote.payableAmount);
}

export function shareOfPayments(payments: readonly PaidIn[], terms: ShareTerms): Share {
  return payments.reduce((share, payment) => plusPayment(share, payment, terms), noShare);
}

/** Returns what a payment would add to the settlement amount of a share if nothing were rounded. */
function plainWorth(before: Share, payment: PaidIn, terms: PayableTerms): bigint {
  return worthOf(plusPayment(before, payment, terms), terms.amount) - worthOf(before, terms.amount);
}

/** Returns what a payment adds to the settlement amount of a share, with what is rounded. */
function worthAfter(before: Share, payment: PaidIn, terms: PayableTerms): bigint {
  const after = plusPayment(before, payment, terms);
  const worth = (share: Share) => worthOf(roundedShare(share, terms.rounding), terms.amount);
  return worth(after) - worth(before);
}

/**
 * Returns the tokens that count in addition to a payment because they are missing and nobody can be asked for them; 0
 * unless this payment completes the amount.
 */
function roundingAfter(before: Share, payment: PaidIn, terms: PayableTerms): bigint {
  const after = plusPayment(before, payment, terms);
  const quote = quoteFor(terms.quotes, payment);
  const isRounded = (share: Share) => roundedShare(share, terms.rounding) !== share;
  if (quote === undefined || isRounded(before) || !isRounded(after)) return 0n;
  return quote.payableAmount - worthOf(after, quote.payableAmount);
}

export function sumOf(payments: readonly Pick<PaymentRow, "amount">[]): bigint {
  return payments.reduce((total, payment) => total + payment.amount, 0n);
}

/** Computes an invoice's totals. `payments` must be sorted by id. */
function totalsOf(payments: readonly PaymentRow[], terms: PayableTerms): PaymentTotals {
  const counted = payments
    .filter(isCounted)
    .toSorted(terms.quotes.length > 1 ? byBlockTime : byHeight);
  const completing = completingIndex(counted, terms);
  // A payment after the invoice is fully paid is an overpayment, not a late payment.
  const making = completing === -1 ? counted : counted.slice(0, completing + 1);
  // Anybody may submit a hash: it does not affect the invoice until the merchant accepts it.
  const waiting = payments.filter(
    ({ status, rule }) => status === "review" && rule !== "submitted_hash",
  );
  const isLate = ({ blockTime }: PaymentRow) => terms.isCanceled || blockTime > terms.expiresAt;
  const confirmed = counted.filter(({ status }) => status === "confirmed");
  const seen = shareOfPayments(counted, terms);
  return {
    seen: tokensOf(seen, terms),
    confirmed: tokensOf(shareOfPayments(confirmed, terms), terms),
    isLate: making.some(isLate) || waiting.some(isLate),
    isReverted: payments.some(
      ({ status, statusWhenBack }) => status === "reverted" && statusWhenBack === "confirming",
    ),
    latestBlock: latestBlockOf(counted.filter(({ network }) => network === terms.network)),
    completedAt: counted[completing]?.blockTime ?? null,
    transactionHashes: [
      ...new Set(payments.filter(isCounted).map(({ transactionHash }) => transactionHash)),
    ],
    aside: [],
    ...(terms.quotes.length > 1 && {
      networkOf: new Map(counted.map(({ transactionHash, network }) => [transactionHash, network])),
      several: {
        paidAmount: worthOf(roundedShare(seen, terms.rounding), terms.amount),
        quotes: terms.quotes.map((quote) => {
          const { network, tokenSymbol } = quote;
          const isOwn = (payment: PaymentRow) => quoteFor([quote], payment) !== undefined;
          const own = counted.filter(isOwn);
          return {
            network,
            tokenSymbol,
            seen: sumOf(own),
            confirmed: sumOf(confirmed.filter(isOwn)),
            latestBlock: latestBlockOf(own),
          };
        }),
      },
    }),
  };
}

function latestBlockOf(payments: readonly PaymentRow[]): number | null {
  if (payments.length === 0) return null;
  return Math.max(...payments.map(({ blockHeight }) => blockHeight));
}

/** The order of payments on several chains, whose heights cannot be compared. */
function byBlockTime(one: PaymentRow, other: PaymentRow): number {
  return one.blockTime - other.blockTime;
}

/** The order of payments on one chain; those of one block stay in the order of their ids. */
function byHeight(one: PaymentRow, other: PaymentRow): number {
  return one.blockHeight - other.blockHeight;
}

/** Returns the index of the payment with which the sum reaches the due amount; -1 if it does not. */
function completingIndex(counted: readonly PaymentRow[], terms: PayableTerms): number {
  let share = noShare;
  return counted.findIndex((payment) => {
    share = plusPayment(share, payment, terms);
    return tokensOf(share, terms) >= terms.dueAmount;
  });
}

/** Accepts a payment in review. It counts from now on and is confirmed like any other. */
export function acceptedPayment(payment: PaymentRow): PaymentRow {
  return { ...payment, status: "confirming" };
}

/** Rejects or reverses a payment, or drops it because another payment of its transfer was accepted. */
export function rejectedPayment(payment: PaymentRow): PaymentRow {
  return { ...payment, status: "rejected", statusWhenBack: null, confirmedAt: null };
}

type TakingPayment = Pick<PaymentRow, "status" | "statusWhenBack" | "amount" | "refunded">;

/**
 * Returns the amount of a transfer that is no longer there to allocate: counted payments, reverted ones that would count
 * again, and the refunds of the others.
 */
export function takenOf(payments: readonly TakingPayment[]): bigint {
  return payments.reduce((sum, payment) => sum + takenBy(payment), 0n);
}

function takenBy(payment: TakingPayment): bigint {
  return isTaking(payment) ? payment.amount : payment.refunded;
}

/** Whether a payment counts, or would count again if its transfer came back. */
export function isTaking(payment: Pick<PaymentRow, "status" | "statusWhenBack">): boolean {
  return isCounted(payment) || payment.statusWhenBack === "confirming";
}

/**
 * Returns a transfer's disposition and first invoice after a decision. `rest` is the disposition if an unallocated
 * amount remains.
 */
export function dispositionAfter(
  transfer: TransferRow,
  payments: readonly PaymentRow[],
  rest: "unmatched" | "ignored",
): Pick<TransferRow, "invoiceId" | "disposition"> {
  const taking = payments.filter((payment) => takenOf([payment]) > 0n);
  const isStillFor = payments.some(
    ({ invoiceId, status }) => invoiceId === transfer.invoiceId && status !== "rejected",
  );
  return {
    invoiceId: isStillFor ? transfer.invoiceId : (taking[0]?.invoiceId ?? null),
    disposition: takenOf(taking) >= transfer.amount ? "matched" : rest,
  };
}

/** The event types by the payment's new status. */
const paymentEvents = {
  confirming: "payment.detected",
  confirmed: "payment.confirmed",
  reverted: "payment.reverted",
  review: "payment.needs_review",
  rejected: "payment.rejected",
} as const satisfies Record<PaymentStatus, string>;

/** Returns the event type for a payment's new status. */
export function eventOf(before: Pick<PaymentRow, "status"> | null, after: PaymentRow) {
  const isAccepted = before?.status === "review" && after.status === "confirming";
  return isAccepted ? "payment.accepted" : paymentEvents[after.status];
}
