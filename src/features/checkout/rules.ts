import { hour, minute, type Instant } from "../../kernel/clock.ts";
import type { Network } from "../../platform/chain/networks.ts";
import type { NetworkState } from "../../platform/chain/state/network-state.ts";
import type { PayerInvoice } from "../invoices/payer-view.ts";
import type { PayerRefund } from "../refunds/payer/payer-view.ts";
import type { ClaimResult } from "../payments/hash-claims/status.ts";
import type { PayerPayment, SubmittedTransaction } from "../payments/payer-view.ts";

/** States shown to the payer. Each has its own text, and no two are merged. */
export const checkoutStates = [
  "awaiting",
  "partly_paid",
  "confirming",
  "in_review",
  "late_review",
  "reverted",
  "paid",
  "overpaid",
  "paid_late",
  "expired_unpaid",
  "expired_partly_paid",
  "canceled",
  "canceled_review",
  "cannot_check",
] as const;
export type CheckoutState = (typeof checkoutStates)[number];

/** The payer's next steps. */
export const nextActions = [
  "pay",
  "wait",
  "check_again",
  "request_new_link",
  "request_refund",
  "contact_merchant",
  "none",
] as const;
export type NextAction = (typeof nextActions)[number];

/** Remarks on a state. */
export const checkoutNotices = [
  "payment_reverted",
  "transaction_failed",
  "network_delayed",
  "other_amount",
  "payment_moved",
] as const;
export type CheckoutNotice = (typeof checkoutNotices)[number];

/** The results of submitted transactions that are still being looked for. */
export const openResults: ReadonlySet<ClaimResult> = new Set(["looking", "unknown"]);

/** The network data that determines the state. */
type Progress = Pick<NetworkState, "tipTime" | "tipSeenAt" | "scannedAt" | "cursorHeight">;
type Pace = Pick<Network, "id" | "isTest" | "blockTimeMs" | "pollMs">;

/** Factor by which blocks and polls may be late before the payer is informed. */
const lagFactor = 10;

/**
 * Whether the network data is too old to conclude that no payment has arrived. A chain whose blocks have old times is read
 * all the same, so that the time counts at which a new block was last read. The test network also mines on demand, so there only the
 * time of the watcher's last poll counts.
 */
function isLagging(network: Pace, progress: Progress | null, now: Instant): boolean {
  if (progress === null) return true;
  const lagMaxMs = Math.max(minute, lagFactor * (network.blockTimeMs + network.pollMs));
  if (now - progress.scannedAt > lagMaxMs) return true;
  return !network.isTest && now - progress.tipSeenAt > lagMaxMs;
}

/**
 * Minimum time, from its block's time, for which a payment that left the chain is expected back. Some networks replace
 * and finalize a block within seconds, in which the transaction cannot be included again yet.
 */
const returnsWithinMs = 10 * minute;
/** The same time for a payment on another network than that in force, whose blocks are not looked at here. */
const returnsElsewhereWithinMs = hour;

/**
 * Whether a payment left the chain and may still return: until the block that took the place of its block is final, and
 * the blocks of the minutes after it have been read. A payment that returns or is rejected has another status then. A
 * transaction that replaced it (with the same nonce of its sender) cannot be recognized from its logs; if it pays the
 * invoice, its own payment changes the invoice's status.
 */
function isReturning(
  {
    payments,
    network,
    networkState,
  }: Pick<CheckoutInputs, "payments" | "network" | "networkState">,
  now: Instant,
): boolean {
  const patienceMs = network.isTest ? 0 : returnsWithinMs;
  const cursorHeight = networkState?.cursorHeight ?? -1;
  // After an outage, blocks in which it may have returned are read long after their time.
  const readUntil = Math.min(now, networkState?.tipTime ?? 0);
  return payments.some(({ status, isExpectedBack, blockHeight, blockTime, network: id }) => {
    if (status !== "reverted" || !isExpectedBack) return false;
    if (id !== network.id) return now < blockTime + returnsElsewhereWithinMs;
    return cursorHeight < blockHeight || readUntil < blockTime + patienceMs;
  });
}

/** The data that determines the state of a checkout. */
interface CheckoutInputs {
  readonly invoice: Pick<
    PayerInvoice,
    | "status"
    | "exception"
    | "received"
    | "asked"
    | "expiresAt"
    | "payable"
    | "remaining"
    | "network"
    | "isAddressShared"
    | "owed"
    | "managedBy"
  >;
  readonly payments: readonly Omit<PayerPayment, "transactionHash">[];
  readonly submitted: readonly Pick<SubmittedTransaction, "result">[];
  readonly network: Pace;
  readonly networkState: Progress | null;
  /** False while nobody reads the network, or its token is disabled: payments would not be found. */
  readonly isAccepted: boolean;
}

/** Returns the state shown to the payer. */
export function stateOf(inputs: CheckoutInputs, now: Instant): CheckoutState {
  const { invoice, network, networkState } = inputs;
  switch (invoice.status) {
    case "open":
    case "partially_paid":
      // Before anything else: whoever is asked for money now may pay twice.
      if (isReturning(inputs, now)) return "reverted";
      if (hasReview(inputs)) return isLate(inputs) ? "late_review" : "in_review";
      // After its deadline an invoice stays open until the newest blocks are read; nobody should pay in that time.
      if (now >= invoice.expiresAt || !inputs.isAccepted) return "cannot_check";
      if (isLagging(network, networkState, now)) return "cannot_check";
      return invoice.status === "open" ? "awaiting" : "partly_paid";
    case "confirming":
      return "confirming";
    case "paid":
      if (invoice.exception === "late") return "paid_late";
      return isOverpaid(invoice) ? "overpaid" : "paid";
    case "expired":
      if (isReturning(inputs, now)) return "reverted";
      if (hasReview(inputs)) return isLate(inputs) ? "late_review" : "in_review";
      return invoice.received.units > 0n ? "expired_partly_paid" : "expired_unpaid";
    case "canceled":
      return hasReview(inputs) ? "canceled_review" : "canceled";
  }
}

/** The payer's refunds, as far as they change the next step. */
interface RefundInputs {
  /** Whether the payer can ask for a refund now. */
  readonly canRequestRefund: boolean;
  /** Whether money is left over that the payer cannot ask for again, because the merchant has rejected too many requests. */
  readonly isLeftToMerchant: boolean;
  readonly refunds: readonly Pick<PayerRefund, "status">[];
}

type NextInputs = Omit<CheckoutInputs, "submitted">;

/**
 * Returns the payer's next step in a state. While it is `pay`, the payer sees an amount and an address. Where nothing can
 * be paid and the merchant decides nothing, a refund comes first: asking for it, then waiting for it.
 */
export function nextActionOf(
  state: CheckoutState,
  inputs: NextInputs,
  { canRequestRefund, isLeftToMerchant, refunds }: RefundInputs,
  now: Instant,
): NextAction {
  const action = actionIn(state, inputs, now);
  const isBusy = action === "pay" || action === "wait" || state === "cannot_check";
  if (isBusy) return action;
  if (canRequestRefund) return "request_refund";
  if (isRefundOpen(refunds)) return "wait";
  if (isRefundComing(state, inputs)) return "wait";
  const isOwed = inputs.invoice.owed.units > 0n;
  if (isLeftToMerchant || (isOwed && state === "expired_unpaid")) return "contact_merchant";
  const isReturned = refunds.some(({ status }) => status === "confirmed");
  return inputs.invoice.status === "paid" && isReturned && !isOwed ? "none" : action;
}

/**
 * Whether the payer can soon ask for money that the invoice does not need: when its payment is confirmed or, of a payment
 * that the merchant did not accept, when no reorganization can remove it any more.
 */
function isRefundComing(
  state: CheckoutState,
  { invoice, payments, network, networkState }: NextInputs,
): boolean {
  // Nobody asks for money of an invoice that the platform manages.
  if (invoice.managedBy !== null) return false;
  const cursorHeight = networkState?.cursorHeight ?? -1;
  const isRejectedInOpenBlock = payments.some(
    ({ status, blockHeight, network: id, amount, refundRequested, refunded }) =>
      status === "rejected" &&
      id === network.id &&
      blockHeight > cursorHeight &&
      amount > refundRequested + refunded,
  );
  if (isRejectedInOpenBlock && invoice.owed.units > 0n) return true;
  const isSpare = isPaid(state) ? isOverpaid(invoice) : state === "expired_partly_paid";
  return isSpare && payments.some(({ status }) => status === "confirming");
}

export function isPaid(state: CheckoutState): boolean {
  return state === "paid" || state === "overpaid" || state === "paid_late";
}

/** Whether a refund was asked for that is not confirmed yet. */
export function isRefundOpen(refunds: RefundInputs["refunds"]): boolean {
  return refunds.some(({ status }) => status === "requested" || status === "sent");
}

/** Returns the next step without refunds. */
function actionIn(
  state: CheckoutState,
  { invoice, isAccepted }: Pick<CheckoutInputs, "invoice" | "isAccepted">,
  now: Instant,
): NextAction {
  switch (state) {
    case "awaiting":
    case "partly_paid":
      return "pay";
    case "cannot_check":
      // A payment counts by the time at which the network includes it, not by when it can be read.
      if (!isAccepted) return "contact_merchant";
      return now < invoice.expiresAt ? "pay" : "check_again";
    case "confirming":
    case "in_review":
    case "late_review":
    case "canceled_review":
    case "reverted":
      return "wait";
    case "expired_unpaid":
      return "request_new_link";
    case "overpaid":
    case "expired_partly_paid":
    case "canceled":
      return "contact_merchant";
    case "paid_late":
      return isOverpaid(invoice) ? "contact_merchant" : "none";
    case "paid":
      return "none";
  }
}

/**
 * Whether the payer may choose another option: while something may be paid, and while nobody reads the option in force,
 * because another one may be read.
 */
export function mayChooseOption(
  state: CheckoutState,
  { invoice, isAccepted }: Pick<CheckoutInputs, "invoice" | "isAccepted">,
  now: Instant,
): boolean {
  if (actionIn(state, { invoice, isAccepted }, now) === "pay") return true;
  return state === "cannot_check" && !isAccepted && now < invoice.expiresAt;
}

/** States in which no payment was found. */
const nothingFound: ReadonlySet<CheckoutState> = new Set([
  "awaiting",
  "cannot_check",
  "expired_unpaid",
  "canceled",
]);

/** Returns the remarks on a state. */
export function noticesOf(
  inputs: CheckoutInputs,
  state: CheckoutState,
  now: Instant,
): CheckoutNotice[] {
  const { invoice, network, networkState, submitted } = inputs;
  if (state === "confirming") {
    return isLagging(network, networkState, now) ? ["network_delayed"] : [];
  }
  if (isPaid(state)) return [];
  return [
    ...(invoice.exception === "reverted" && state !== "reverted"
      ? (["payment_reverted"] as const)
      : []),
    // The newest one alone: the payer may have sent another transaction since. Beside a payment that was found, it
    // would be taken for that one.
    ...(nothingFound.has(state) && submitted[0]?.result === "failed"
      ? (["transaction_failed"] as const)
      : []),
    ...(state === "in_review" && isOtherAmount(inputs) ? (["other_amount"] as const) : []),
    ...(isMovedAway(inputs, state) ? (["payment_moved"] as const) : []),
  ];
}

/**
 * Whether nothing is left of an invoice that cannot be paid any more, because the merchant has moved its payment to
 * another invoice. Money that is owed has not been moved.
 */
function isMovedAway({ invoice, payments }: CheckoutInputs, state: CheckoutState): boolean {
  return (
    (state === "expired_unpaid" || state === "canceled") &&
    invoice.owed.units === 0n &&
    payments.some(({ isMoved }) => isMoved)
  );
}

/**
 * Whether a payment awaits the merchant's decision because another amount arrived than was asked for. Only on a shared
 * address is a payment known by its amount; another token than that in force has an amount of its own.
 */
function isOtherAmount({
  invoice,
  payments,
}: Pick<CheckoutInputs, "invoice" | "payments">): boolean {
  const { isAddressShared, network, payable, received, remaining } = invoice;
  const waiting = payments.filter(({ status }) => status === "review");
  const isInForce = waiting.every(
    (payment) => payment.network === network && payment.token === payable.asset.code,
  );
  const amount = waiting.reduce((sum, payment) => sum + payment.amount, 0n);
  const isAsked = amount === remaining.units || amount + received.units === payable.units;
  return isAddressShared && isInForce && !isAsked;
}

/** Whether a payment that awaits the merchant's decision arrived after the deadline. */
function isLate({ invoice, payments }: Pick<CheckoutInputs, "invoice" | "payments">): boolean {
  if (invoice.exception === "late") return true;
  return payments.some(
    ({ status, blockTime }) => status === "review" && blockTime > invoice.expiresAt,
  );
}

/** Whether a payment awaits the merchant's decision. */
function hasReview({ payments }: Pick<CheckoutInputs, "payments">): boolean {
  return payments.some(({ status }) => status === "review");
}

function isOverpaid(invoice: Pick<PayerInvoice, "received" | "asked">): boolean {
  return invoice.received.units > invoice.asked.units;
}
