import type { z } from "zod";
import { second, toIso, type Instant } from "../../kernel/clock.ts";
import { formatMoney, money, type Money } from "../../kernel/money/money.ts";
import { findToken, transactionLink, type Network } from "../../platform/chain/networks.ts";
import type { NetworkState } from "../../platform/chain/state/network-state.ts";
import { fill } from "./page/catalogue.ts";
import { instructionWords } from "./page/english-only.ts";
import type { StoredCheckout } from "./ports.ts";
import type { CheckoutReceiptRecord, CheckoutSessionRecord } from "./records.ts";
import { nextActionOf, noticesOf, stateOf, type CheckoutState, type NextAction } from "./rules.ts";

export type CheckoutSession = z.input<typeof CheckoutSessionRecord>;

/** An invoice with everything that its payer may know. */
export interface CheckoutView extends StoredCheckout {
  readonly network: Network;
  readonly networkState: NetworkState | null;
  /** False while nobody reads the network, or its token is disabled: payments would not be found. */
  readonly isAccepted: boolean;
}

/**
 * Returns a text that changes whenever the time or the network's state changes the session of an invoice. Whatever
 * `presentSession` takes from either must be part of it.
 */
export function sessionEdge(view: CheckoutView, at: Instant): string {
  const state = stateOf(view, at);
  const { current } = view.invoice.confirmations;
  const parts = [state, nextActionOf(state, view, at), noticesOf(view, state, at), current];
  return `${parts.join(" ")} ${String(lastCheckedAt(state, view))}`;
}

/** Returns the session, from which the page is made too. `at` decides the state. */
export function presentSession(view: CheckoutView, at: Instant): CheckoutSession {
  const { invoice, network } = view;
  const { asset } = invoice.payable;
  const excess = invoice.received.units - invoice.asked.units;
  const state = stateOf(view, at);
  const nextAction = nextActionOf(state, view, at);
  const hashText = (hash: string) => network.kind.formatTransactionHash(hash);
  return {
    id: invoice.checkoutId,
    state,
    nextAction,
    notices: noticesOf(view, state, at),
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
      excessAmount: formatMoney(money(excess > 0n ? excess : 0n, asset)),
    },
    qrCode: invoice.walletAddress,
    paymentUri: nextAction === "pay" ? uriOf(view) : null,
    paymentInstructions: instructions(view, state, nextAction),
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
    lastCheckedAt: lastCheckedAt(state, view),
    transactions: transactionsOf(view, state).map((hash) => ({
      transactionHash: hashText(hash),
      explorerUrl: transactionLink(network, hash),
    })),
    submittedTransactions: view.submitted.map(({ transactionHash, result }) => ({
      transactionHash: hashText(transactionHash),
      result,
    })),
    redirectUrl: invoice.redirectUrl,
    receipt: presentReceipt(view, state),
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
    transactionHashes: transactionsOf(view, state).map((hash) =>
      network.kind.formatTransactionHash(hash),
    ),
  };
}

/** Null in all states but one, because otherwise each block would change the session. */
function lastCheckedAt(state: CheckoutState, { networkState }: CheckoutView): string | null {
  if (state !== "cannot_check" || networkState === null) return null;
  return toIso(networkState.tipTime);
}

/**
 * Returns the transaction hashes shown to the payer, without duplicates: those that count and, if the invoice is
 * expired or canceled, those that await the merchant's decision; after a reorganization, those expected back.
 */
function transactionsOf({ invoice, payments }: CheckoutView, state: CheckoutState): string[] {
  const isOver = invoice.status === "expired" || invoice.status === "canceled";
  const shown = payments.filter(
    ({ status }) =>
      status === "confirming" ||
      status === "confirmed" ||
      (isOver && status === "review") ||
      (state === "reverted" && status === "reverted"),
  );
  return [...new Set(shown.map(({ transactionHash }) => transactionHash))];
}

function confirmationSeconds({ invoice, network }: CheckoutView): number {
  const { current, required } = invoice.confirmations;
  return Math.ceil((Math.max(0, required - current) * network.blockTimeMs) / second);
}

/** `25.00 USDT` */
function amountText(amount: Money): string {
  return `${formatMoney(amount)} ${amount.asset.code}`;
}

/** Returns `TRON (TRC-20)`: the network always appears with its token standard. */
function networkText({ title, tokenStandard }: Network): string {
  return `${title} (${tokenStandard})`;
}

/** Returns the payment URI of the network's wallets for the remaining amount; null if the network has none. */
function uriOf({ invoice, network }: CheckoutView): string | null {
  const token = findToken(network, invoice.payable.asset.code);
  const to = network.kind.parseAddress(invoice.walletAddress);
  if (token === null || !to.ok) return null;
  const uri = network.kind.paymentUri({
    chainId: network.chainId,
    contract: token.contract,
    to: to.address,
    amount: invoice.remaining.units,
  });
  return uri === invoice.walletAddress ? null : uri;
}

function instructions(view: CheckoutView, state: CheckoutState, nextAction: NextAction): string {
  const { invoice, network } = view;
  if (nextAction === "pay") {
    return fill(instructionWords.sendExactly, {
      amount: amountText(invoice.remaining),
      network: networkText(network),
      address: invoice.walletAddress,
    });
  }
  return fill(instructionWords[restInstructions[state]], { merchant: view.merchant.displayName });
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
  expired_partly_paid: "sendNothingExpired",
  canceled: "sendNothingCanceled",
  canceled_review: "sendNothingCanceledPaid",
} as const satisfies Record<CheckoutState, keyof typeof instructionWords>;
