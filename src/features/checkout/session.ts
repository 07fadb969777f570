import type { z } from "zod";
import { second, toIso, type Instant } from "../../kernel/clock.ts";
import { canonicalJson, digest } from "../../kernel/digest.ts";
import { formatMoney, money, tokenAsset, type Money } from "../../kernel/money/money.ts";
import {
  findToken,
  shortAddress,
  transactionLink,
  type Network,
  type PaymentRequest,
} from "../../platform/chain/networks.ts";
import { removedNetwork } from "../../platform/chain/removed-network.ts";
import type { NetworkState } from "../../platform/chain/state/network-state.ts";
import { compareToRefund, freeSurplus } from "../payments/ledger/surplus.ts";
import type { PayerPayment } from "../payments/payer-view.ts";
import type { PayerRefund } from "../refunds/payer/payer-view.ts";
import { fill, networkText } from "./page/catalogue.ts";
import { instructionWords } from "./page/english-only.ts";
import type {
  CheckoutAmountRecord,
  CheckoutReceiptRecord,
  CheckoutRefundRecord,
  CheckoutSessionRecord,
} from "./records.ts";
import {
  isPaid,
  isRefundOpen,
  mayChooseOption,
  nextActionOf,
  noticesOf,
  stateOf,
  openResults,
  type CheckoutNotice,
  type CheckoutState,
  type NextAction,
} from "./rules.ts";
import { arrivedAmounts, moneyOf, sumsByToken, transactionsOf } from "./shown-payments.ts";
import type { StoredCheckout } from "./store.ts";

export type CheckoutSession = z.input<typeof CheckoutSessionRecord>;

/** An option that the payer may choose, or that is in force. */
export interface OfferedOption {
  readonly network: Network;
  readonly tokenSymbol: string;
  readonly isInForce: boolean;
  /** Whether it was chosen before. */
  readonly isHeld: boolean;
}

/** An invoice with everything that its payer may know. */
export interface CheckoutView extends StoredCheckout {
  /** The network in force, and every network in the table. */
  readonly network: Network;
  readonly networks: ReadonlyMap<string, Network>;
  /** The network whose confirmations are shown: that of the payment that takes longest. */
  readonly confirmingOn: Network;
  /** The cheapest usual fee first. */
  readonly options: readonly OfferedOption[];
  readonly networkState: NetworkState | null;
  /** False while nobody reads the network, or its token is disabled: payments would not be found. */
  readonly isAccepted: boolean;
}

/** The decisions about an invoice at a time, from which its session is presented. */
interface Situation {
  readonly state: CheckoutState;
  readonly nextAction: NextAction;
  readonly notices: readonly CheckoutNotice[];
  readonly returnable: readonly Returnable[];
  readonly canRequestRefund: boolean;
  readonly mayChooseOption: boolean;
  /** Null in all states but one, because otherwise each block would change the session. */
  readonly lastCheckedAt: string | null;
}

/** Returns the situation of an invoice at a time. */
export function situationOf(view: CheckoutView, at: Instant): Situation {
  const { networkState } = view;
  const state = stateOf(view, at);
  const returnable = returnablePayments(view);
  const refundable = refundableOf(view, returnable);
  const refunds = {
    canRequestRefund: refundable.length > 0,
    isLeftToMerchant: refundable.length < returnable.length,
    refunds: view.refunds,
  };
  return {
    state,
    nextAction: nextActionOf(state, view, refunds, at),
    notices: noticesOf(view, state, at),
    returnable,
    canRequestRefund: refunds.canRequestRefund,
    mayChooseOption: mayChooseOption(state, view, at),
    lastCheckedAt:
      state === "cannot_check" && networkState !== null ? toIso(networkState.tipSeenAt) : null,
  };
}

/**
 * Returns a text that changes whenever the time or the network's state changes the session of an invoice. Whatever
 * `presentSession` takes from either must be part of it.
 */
export function sessionEdge(
  { invoice, options, confirmingOn }: CheckoutView,
  situation: Situation,
): string {
  const { state, nextAction, notices, returnable, lastCheckedAt } = situation;
  const { current, required } = invoice.confirmations;
  const offered = options.map(({ network, tokenSymbol }) => `${network.id}/${tokenSymbol}`);
  const parts = [
    ...[state, nextAction, notices, current, required, confirmingOn.id],
    ...[returnable.map(({ payment }) => payment.id), lastCheckedAt],
    ...[situation.mayChooseOption, ...offered],
  ];
  return parts.map(String).join(" ");
}

/** Returns a text that changes with the session. The page has the version that it shows. */
export function versionOf(session: CheckoutSession): string {
  return digest(canonicalJson(session)).slice(0, 16);
}

/** Returns the session, from which the page is made too. */
export function presentSession(view: CheckoutView, situation: Situation): CheckoutSession {
  const { invoice, network } = view;
  const { asset } = invoice.payable;
  const { state, nextAction, notices, returnable } = situation;
  const spare = new Set(
    returnable
      .filter(({ payment }) => payment.status === "rejected")
      .map(({ payment }) => payment.id),
  );
  const arrived = arrivedAmounts(view, spare);
  return {
    id: invoice.checkoutId,
    state,
    nextAction,
    notices: [...notices],
    invoice: {
      id: invoice.publicId,
      reference: invoice.reference,
      description: invoice.description,
      externalId: invoice.externalId,
      status: invoice.status,
      amount: formatMoney(invoice.amount),
      paidAmount: formatMoney(invoice.paidAmount),
      settlementCurrency: invoice.amount.asset.code,
      tokenSymbol: asset.code,
      network: network.id,
      walletAddress: invoice.walletAddress,
      checkoutUrl: invoice.checkoutUrl,
      expiresAt: toIso(invoice.expiresAt),
      payableAmount: formatMoney(invoice.payable),
      remainingAmount: formatMoney(invoice.remaining),
      receivedAmount: formatMoney(invoice.received),
      excessAmount: formatMoney(excessOf(invoice)),
    },
    qrCode: invoice.walletAddress,
    paymentUri: nextAction === "pay" ? uriOf(view) : null,
    walletTransfer: nextAction === "pay" && !isAnySearchedFor(view) ? walletTransferOf(view) : null,
    paymentInstructions: instructions(view, situation, arrived),
    merchantDisplayName: view.merchant.displayName,
    merchantWebsite: view.merchant.website,
    merchantContactEmail: view.merchant.contactEmail,
    merchantAccentColor: view.merchant.accentColor,
    merchantLogoPath: view.merchant.logoPath,
    networkTitle: network.title,
    networkCoin: network.isTest ? null : network.coin,
    isAddressShared: invoice.isAddressShared,
    tokenStandard: network.tokenStandard,
    isTest: network.isTest,
    confirmationProgress: { ...invoice.confirmations },
    confirmationSeconds: state === "confirming" ? confirmationSeconds(view) : null,
    lastCheckedAt: situation.lastCheckedAt,
    arrivedAmounts: arrived.map(presentAmount),
    transactions: transactionsOf(view, state, spare).map((payment) => ({
      transactionHash: hashText(view, payment.network, payment.transactionHash),
      explorerUrl: transactionLink(networkOf(view, payment.network), payment.transactionHash),
      ...presentAmount(moneyOf(payment)),
    })),
    submittedTransactions: view.submitted.map(({ transactionHash, network: id, result }) => ({
      transactionHash: hashText(view, id, transactionHash),
      result,
    })),
    canRequestRefund: situation.canRequestRefund,
    refundable: presentRefundable(view, returnable),
    refunds: view.refunds.map((refund) => presentRefund(refund, view)),
    options: situation.mayChooseOption ? optionsOf(view) : [],
    redirectUrl: invoice.redirectUrl,
    receipt: presentReceipt(view, state),
  };
}

/** A payment with the part that the invoice does not need and that was not returned yet. */
interface Returnable {
  readonly payment: PayerPayment;
  /** In the payment's token. */
  readonly free: Money;
}

/** Returns those of which the payer, and not the merchant alone, can ask for a refund. */
function refundableOf(
  { leftToMerchant }: CheckoutView,
  returnable: readonly Returnable[],
): Returnable[] {
  return returnable.filter(({ payment }) => !leftToMerchant.has(payment.id));
}

function presentRefundable(
  view: CheckoutView,
  returnable: readonly Returnable[],
): CheckoutSession["refundable"] {
  const next = nextToRefund(view, returnable)[0];
  if (next === undefined) return null;
  const network = networkOf(view, next.payment.network);
  return {
    transactionHash: hashText(view, network.id, next.payment.transactionHash),
    ...presentAmount(next.free),
    network: network.id,
    networkTitle: network.title,
    tokenStandard: network.tokenStandard,
  };
}

/**
 * Returns those of which the payer can ask for a refund, the next one first. Anyone may have submitted the hash of somebody
 * else's payment: such payments are left out unless all are submitted.
 */
function nextToRefund(view: CheckoutView, returnable: readonly Returnable[]): Returnable[] {
  const all = refundableOf(view, returnable);
  const matched = all.filter(({ payment }) => payment.rule !== "submitted_hash");
  const chosen = matched.length > 0 ? matched : all;
  return chosen.toSorted((one, other) => compareToRefund(one.payment, other.payment));
}

/**
 * Returns the payments with something that the invoice does not need and whose refund the payer can ask for, or could
 * until the merchant had rejected too many requests. A payment has one open refund. On a network that was removed from
 * the table, no address can be checked.
 */
function returnablePayments({
  invoice,
  payments,
  leftToMerchant,
  networks,
  refunds,
}: CheckoutView): Returnable[] {
  const { status, managedBy, asked, payable, quotes, excessSlack } = invoice;
  const terms = {
    askedAmount: asked.units,
    excessSlack,
    payableAmount: payable.units,
    quotes,
    managedBy,
  };
  const inputs = { status, terms, ledger: payments };
  return payments
    .filter(
      (payment) =>
        networks.has(payment.network) &&
        !isRefundOpen(refunds.filter(({ paymentId }) => paymentId === payment.id)) &&
        // The hash is public: if the merchant does not refund the payment, it is probably somebody else's.
        !(payment.rule === "submitted_hash" && leftToMerchant.has(payment.id)),
    )
    .map((payment) => ({
      payment,
      free: money(freeSurplus(payment, inputs), tokenAsset(payment.token, payment.tokenDecimals)),
    }))
    .filter(({ free }) => free.units > 0n);
}

function presentRefund(
  refund: PayerRefund,
  view: CheckoutView,
): z.input<typeof CheckoutRefundRecord> {
  const network = networkOf(view, refund.network);
  const { transactionHash: hash, status, reason } = refund;
  return {
    status,
    amount: formatMoney(refundMoney(refund)),
    tokenSymbol: refund.token,
    network: refund.network,
    address: shortAddress(network.kind, refund.address),
    transactionHash: hash === null ? null : network.kind.formatTransactionHash(hash),
    explorerUrl: hash === null ? null : transactionLink(network, hash),
    reason,
  };
}

function presentReceipt(
  view: CheckoutView,
  state: CheckoutState,
): z.input<typeof CheckoutReceiptRecord> | null {
  const { invoice, network } = view;
  if (invoice.status !== "paid" || invoice.paidAt === null) return null;
  return {
    invoiceId: invoice.publicId,
    amount: formatMoney(invoice.amount),
    paidAmount: formatMoney(invoice.paidAmount),
    settlementCurrency: invoice.amount.asset.code,
    tokenSymbol: invoice.payable.asset.code,
    network: network.id,
    paidAt: toIso(invoice.paidAt),
    transactionHashes: [
      ...new Set(
        transactionsOf(view, state, new Set()).map(({ transactionHash, network: id }) =>
          hashText(view, id, transactionHash),
        ),
      ),
    ],
  };
}

function networkOf({ networks }: CheckoutView, id: string): Network {
  return networks.get(id) ?? removedNetwork(id);
}

/** Returns a transaction's hash as the explorers of its network write it. */
function hashText(view: CheckoutView, network: string, hash: string): string {
  return networkOf(view, network).kind.formatTransactionHash(hash);
}

/** Returns the options among which the payer can choose; none if there is no choice. */
function optionsOf({ options }: CheckoutView): CheckoutSession["options"] {
  if (options.length < 2) return [];
  return options.map(({ network, tokenSymbol, isInForce, isHeld }) => ({
    network: network.id,
    networkTitle: network.title,
    tokenStandard: network.tokenStandard,
    tokenSymbol,
    isInForce,
    isHeld,
  }));
}

function amountText(amount: Money): string {
  return `${formatMoney(amount)} ${amount.asset.code}`;
}

function presentAmount(amount: Money): z.input<typeof CheckoutAmountRecord> {
  return { amount: formatMoney(amount), tokenSymbol: amount.asset.code };
}

function confirmationSeconds({ invoice, confirmingOn }: CheckoutView): number {
  const { current, required } = invoice.confirmations;
  return Math.ceil((Math.max(0, required - current) * confirmingOn.blockTimeMs) / second);
}

/** Whether any submitted transaction is still being looked for: it may be the payment. */
function isAnySearchedFor({ submitted }: CheckoutView): boolean {
  return submitted.some(({ result }) => openResults.has(result));
}

/** The payment of the remaining amount, for wallets; null if the network no longer has the token. */
function requestOf({ invoice, network }: CheckoutView): PaymentRequest | null {
  const token = findToken(network, invoice.payable.asset.code);
  const to = network.kind.parseAddress(invoice.walletAddress);
  if (token === null || !to.ok) return null;
  const { chainId } = network;
  return { chainId, contract: token.contract, to: to.address, amount: invoice.remaining.units };
}

/** Returns the payment URI of the network's wallets for the remaining amount; null if the network has none. */
function uriOf(view: CheckoutView): string | null {
  const request = requestOf(view);
  const uri = request === null ? null : view.network.kind.paymentUri(request);
  return uri === view.invoice.walletAddress ? null : uri;
}

function walletTransferOf(view: CheckoutView): CheckoutSession["walletTransfer"] {
  const request = requestOf(view);
  const transfer = request === null ? null : view.network.kind.browserWallets?.transfer(request);
  if (transfer == null) return null;
  return { ...transfer, tokenDecimals: view.invoice.payable.asset.decimals };
}

/** Returns what the payer should do, after what was sent back: the invoice may look as if nothing had been paid. */
function instructions(view: CheckoutView, situation: Situation, arrived: readonly Money[]): string {
  const { state, nextAction, notices, returnable } = situation;
  const { invoice, network, refunds } = view;
  const words = nextAction === "pay" ? "sendExactly" : wordsOf(view, situation);
  const isReturned = refunds.some(({ status }) => status === "confirmed");
  const isGone = nextAction === "pay" && notices.includes("payment_reverted");
  // Newest first. A payer who may ask again should know why the last request was rejected.
  const [newest] = refunds;
  const rejection = newest?.status === "rejected" ? newest.reason : null;
  const texts = [
    ...(isReturned ? [instructionWords.refunded] : []),
    ...(nextAction === "request_refund" && rejection !== null
      ? [instructionWords.refundRejected]
      : []),
    ...(isGone ? [instructionWords.lookFirst] : []),
    ...(isPaid(state) && isRefundOpen(refunds) && nextAction !== "request_refund"
      ? [instructionWords.isPaid]
      : []),
    instructionWords[words],
  ];
  return fill(texts.join(" "), {
    amount: amountText(invoice.remaining),
    network: networkText({ networkTitle: network.title, tokenStandard: network.tokenStandard }),
    address: invoice.walletAddress,
    merchant: view.merchant.displayName,
    arrived: amountsText(arrived),
    excess: amountsText(nextToRefund(view, returnable).map(({ free }) => free)),
    owed: invoice.owed.units === 0n ? "The payment" : amountText(invoice.owed),
    refund: refundedText(refunds, "sent"),
    returned: refundedText(refunds, "confirmed"),
    reason: (rejection ?? "").replace(/\.$/, ""),
  });
}

function refundedText(refunds: readonly PayerRefund[], status: PayerRefund["status"]): string {
  return amountsText(refunds.filter((refund) => refund.status === status).map(refundMoney));
}

/** Returns the sums of the amounts, for people. */
function amountsText(amounts: readonly Money[]): string {
  return sumsByToken(amounts).map(amountText).join(" + ");
}

function refundMoney({ amount, token, tokenDecimals }: PayerRefund): Money {
  return money(amount, tokenAsset(token, tokenDecimals));
}

/** Returns the instructions where nothing is to be paid: refunds come first, as in `nextAction`. */
function wordsOf(
  view: CheckoutView,
  { state, nextAction, notices }: Situation,
): keyof typeof instructionWords {
  const { invoice, refunds } = view;
  if (nextAction === "request_refund") {
    return invoice.status === "paid" ? "askForExcess" : "askForRefund";
  }
  if (isRestState(state) && isRefundOpen(refunds)) {
    // While another one waits for the merchant, that one is what the payer waits for.
    const isAsked = refunds.some(({ status }) => status === "requested");
    return isAsked ? "refundAsked" : "refundSent";
  }
  if (isRestState(state) && nextAction === "wait") {
    if (isPaid(state)) return "excessLater";
    return state === "expired_partly_paid" ? "partLater" : "refundLater";
  }
  if (state === "expired_unpaid" && nextAction === "contact_merchant") return "leftToMerchant";
  if (notices.includes("payment_moved")) {
    return state === "canceled" ? "sendNothingCanceledMoved" : "sendNothingExpiredMoved";
  }
  if (state !== "expired_unpaid") return restInstructions[state];
  if (refunds.some(({ status }) => status === "confirmed")) return "sendNothingReturned";
  return invoice.exception === "reverted" ? "sendNothingGone" : "sendNothingExpired";
}

function excessOf({ received, asked }: CheckoutView["invoice"]): Money {
  const units = received.units - asked.units;
  return money(units > 0n ? units : 0n, received.asset);
}

/** Whether nothing can be paid and nothing waits for the merchant's decision about a payment. */
function isRestState(state: CheckoutState): boolean {
  return isPaid(state) || state.startsWith("expired_") || state === "canceled";
}

/** The payer's instructions in each state, unless there is something to pay. */
const restInstructions = {
  awaiting: "sendNothingNow",
  partly_paid: "sendNothingNow",
  cannot_check: "sendNothingNow",
  confirming: "sendNothingConfirming",
  reverted: "sendNothingReverted",
  in_review: "sendNothingInReview",
  late_review: "sendNothingInReview",
  paid: "sendNothingPaid",
  overpaid: "sendNothingPaid",
  paid_late: "sendNothingPaid",
  expired_unpaid: "sendNothingExpired",
  expired_partly_paid: "sendNothingExpiredPart",
  canceled: "sendNothingCanceled",
  canceled_review: "sendNothingCanceledPaid",
} as const satisfies Record<CheckoutState, keyof typeof instructionWords>;
