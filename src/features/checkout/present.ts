import type { z } from "zod";
import { toIso, type Instant } from "../../kernel/clock.ts";
import { formatMoney, type Money } from "../../kernel/money/money.ts";
import { findToken, type Network } from "../../platform/chain/networks.ts";
import type { NetworkState } from "../../platform/chain/state/network-state.ts";
import { fill } from "./page/catalogue.ts";
import { en } from "./page/en.ts";
import type { PayerInvoice } from "../invoices/index.ts";
import type { SubmittedTransaction } from "../payments/index.ts";
import type { CheckoutPayment } from "./ports.ts";
import type { CheckoutReceiptRecord, CheckoutSessionRecord } from "./records.ts";
import { hasReview, isPayable } from "./rules.ts";

export type CheckoutSession = z.input<typeof CheckoutSessionRecord>;

/** An invoice with everything that its payer may know. */
export interface CheckoutView {
  readonly invoice: PayerInvoice;
  readonly network: Network;
  readonly merchantName: string;
  readonly payments: readonly CheckoutPayment[];
  /** Transactions that payers submitted, newest first. */
  readonly submitted: readonly SubmittedTransaction[];
  readonly networkState: NetworkState | null;
}

/** Presents the session for the API. */
export function presentSession(view: CheckoutView, at: Instant): CheckoutSession {
  const { invoice, network, merchantName } = view;
  return {
    id: invoice.checkoutId,
    invoice: {
      id: invoice.publicId,
      status: invoice.status,
      amount: formatMoney(invoice.amount),
      paidAmount: formatMoney(invoice.paidAmount),
      settlementCurrency: invoice.amount.asset.code,
      tokenSymbol: invoice.payable.asset.code,
      network: network.id,
      walletAddress: invoice.walletAddress,
      checkoutUrl: invoice.checkoutUrl,
      expiresAt: toIso(invoice.expiresAt),
      payableAmount: formatMoney(invoice.payable),
      remainingAmount: formatMoney(invoice.remaining),
    },
    qrCode: codeText(view, at),
    paymentInstructions: instructions(view, at),
    merchantDisplayName: merchantName,
    confirmationProgress: { ...invoice.confirmations },
    receipt: presentReceipt(view),
  };
}

function presentReceipt(view: CheckoutView): z.input<typeof CheckoutReceiptRecord> | null {
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
    transactionHashes: transactionsOf(view).map((hash) => network.kind.formatTransactionHash(hash)),
  };
}

/**
 * Returns the transaction hashes shown to the payer, without duplicates: those that count and, if the invoice is
 * expired or canceled, those that await the merchant's decision.
 */
export function transactionsOf({ invoice, payments }: CheckoutView): string[] {
  const isOver = invoice.status === "expired" || invoice.status === "canceled";
  const shown = payments.filter(
    ({ status }) =>
      status === "confirming" || status === "confirmed" || (isOver && status === "review"),
  );
  return [...new Set(shown.map(({ transactionHash }) => transactionHash))];
}

/** `25.00 USDT` */
export function amountText(amount: Money): string {
  return `${formatMoney(amount)} ${amount.asset.code}`;
}

/** Returns `TRON (TRC-20)`: the network always appears with its token standard. */
export function networkText({ title, tokenStandard }: Network): string {
  return `${title} (${tokenStandard})`;
}

/**
 * Returns the text of the QR code: the remaining amount as a payment URI of the network's wallets. If nothing is
 * payable, it is the plain address, so that no amount invites a second payment.
 */
function codeText(view: CheckoutView, at: Instant): string {
  const { invoice, network } = view;
  if (!isPayable(invoice, at)) return invoice.walletAddress;
  const token = findToken(network, invoice.payable.asset.code);
  const to = network.kind.parseAddress(invoice.walletAddress);
  // If the token has since been removed from the table, the address is still correct.
  if (token === null || !to.ok) return invoice.walletAddress;
  return network.kind.paymentUri({
    chainId: network.chainId,
    contract: token.contract,
    to: to.address,
    amount: invoice.remaining.units,
  });
}

function instructions(view: CheckoutView, at: Instant): string {
  const { invoice, network, merchantName: merchant } = view;
  switch (invoice.status) {
    case "open":
    case "partially_paid":
      if (!isPayable(invoice, at)) return en.sendNothingNow;
      return fill(en.sendExactly, {
        amount: amountText(invoice.remaining),
        network: networkText(network),
        address: invoice.walletAddress,
      });
    case "confirming":
      return en.sendNothingConfirming;
    case "paid":
      return en.sendNothingPaid;
    case "expired":
      return fill(en.sendNothingExpired, { merchant });
    case "canceled":
      return hasReview(view)
        ? fill(en.sendNothingCanceledPaid, { merchant })
        : en.sendNothingCanceled;
  }
}
