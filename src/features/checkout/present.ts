import type { z } from "zod";
import { toIso, type Instant } from "../../kernel/clock.ts";
import { formatMoney, type Money } from "../../kernel/money.ts";
import { parseAddress } from "../../platform/chain/address.ts";
import { findToken, type Network } from "../../platform/chain/networks.ts";
import { paymentUri } from "../../platform/chain/payment-uri.ts";
import type { NetworkState } from "../../platform/chain/state.ts";
import { formatTransactionHash } from "../../platform/chain/transaction-hash.ts";
import { fill } from "./catalogue.ts";
import { en } from "./en.ts";
import type { PayerInvoice } from "../invoices/index.ts";
import type { SubmittedTransaction } from "../payments/index.ts";
import type { CheckoutPayment } from "./ports.ts";
import type { CheckoutReceiptRecord, CheckoutSessionRecord } from "./records.ts";
import { hasReview, isPayable } from "./rules.ts";

export type CheckoutSession = z.input<typeof CheckoutSessionRecord>;

/** An invoice with all that its payer may know of it. */
export interface CheckoutView {
  readonly invoice: PayerInvoice;
  readonly network: Network;
  readonly merchantName: string;
  readonly payments: readonly CheckoutPayment[];
  /** The transactions that payers submitted, the newest first. */
  readonly submitted: readonly SubmittedTransaction[];
  readonly networkState: NetworkState | null;
}

/** The session as the API shows it. */
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
    transactionHashes: transactionsOf(view).map((hash) =>
      formatTransactionHash(network.addressForm, hash),
    ),
  };
}

/**
 * The transactions that a payer is told of, each once: those whose money counts, and after the end those that the
 * merchant still has to decide on.
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

/** `TRON (TRC-20)`: the network is never named without its token standard. */
export function networkText({ title, tokenStandard }: Network): string {
  return `${title} (${tokenStandard})`;
}

/**
 * What the QR code says: what is still to pay, as the network's wallets read it. Where nothing is to be paid any more
 * it is the bare address, so that no amount invites to pay twice.
 */
function codeText(view: CheckoutView, at: Instant): string {
  const { invoice, network } = view;
  if (!isPayable(invoice, at)) return invoice.walletAddress;
  const token = findToken(network, invoice.payable.asset.code);
  const to = parseAddress(network.addressForm, invoice.walletAddress);
  // A token that was taken out of the table since: the address is still right.
  if (token === null || !to.ok) return invoice.walletAddress;
  return paymentUri({
    form: network.addressForm,
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
