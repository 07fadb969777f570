import { z } from "zod";
import { datetime, moneyAnswer, requestRecord, responseRecord } from "../../api/declare/record.ts";
import { ConfirmationProgress, InvoiceStatusRecord } from "../invoices/index.ts";
import { claimResults } from "../payments/index.ts";
import { checkoutNotices, checkoutStates, nextActions } from "./rules.ts";

export const CheckoutInvoiceRecord = responseRecord("CheckoutInvoice", {
  /** The invoice's `publicId`. */
  id: z.string(),
  reference: z.string().meta({
    description:
      "A short reference for payer and merchant, such as `P7K2-9QXD`. The merchant finds the invoice by it with `search`.",
  }),
  description: z.string().nullable(),
  externalId: z.string().nullable(),
  status: InvoiceStatusRecord,
  amount: moneyAnswer(),
  paidAmount: moneyAnswer(),
  settlementCurrency: z.string(),
  tokenSymbol: z.string(),
  network: z.string(),
  walletAddress: z.string(),
  checkoutUrl: z.string(),
  expiresAt: datetime(),
  /** Amount due, in tokens. */
  payableAmount: moneyAnswer(),
  /** Amount still to be paid, in tokens. */
  remainingAmount: moneyAnswer(),
  receivedAmount: moneyAnswer().meta({
    description: "The amount that has arrived and counts, in tokens, whether confirmed or not.",
  }),
  excessAmount: moneyAnswer().meta({
    description: "The part of `receivedAmount` above the requested amount, in tokens.",
  }),
});

export const CheckoutReceiptRecord = responseRecord("CheckoutReceipt", {
  /** The invoice's `publicId`. */
  invoiceId: z.string(),
  amount: moneyAnswer(),
  paidAmount: moneyAnswer(),
  settlementCurrency: z.string(),
  tokenSymbol: z.string(),
  network: z.string(),
  paidAt: datetime(),
  /** In the notation of the network's explorers. */
  transactionHashes: z.array(z.string()),
});

export const CheckoutTransactionRecord = responseRecord("CheckoutTransaction", {
  transactionHash: z.string().meta({ description: "In the notation of the network's explorers." }),
  explorerUrl: z.string().nullable().meta({
    description: "The block explorer's page; null if the network has no explorer.",
  }),
});

export const SubmittedTransactionRecord = responseRecord("SubmittedTransaction", {
  transactionHash: z.string().meta({ description: "In the notation of the network's explorers." }),
  result: z.enum(claimResults).meta({
    description:
      "The outcome of the search. `looking`: the search goes on. `unknown`: the network does not know it yet. `counted`: it counts toward the invoice. `in_review`: the merchant decides. `reverted`: a reorganization removed it. The others end the search, until the transaction is submitted again: `failed` on the network, `other_address`, `other_token`, `token_disabled`, `too_small`, `too_early` (older than the invoice), `too_late` (after the time in which late payments are matched), `not_for_this`, `given_up` (never found), `displaced` (never found, and dropped in favor of a newer one).",
  }),
});

export const CheckoutSessionRecord = responseRecord("CheckoutSession", {
  id: z.string(),
  state: z.enum(checkoutStates).meta({
    description:
      "The state of the payment, as the checkout page shows it. `in_review`: a payment waits for the merchant's decision; `late_review`: so does one that arrived after the deadline; `canceled_review`: so does one for a canceled invoice. `reverted`: a reorganization removed a payment that normally returns; until it does, or the chain is final without it, nothing should be sent. `cannot_check`: the network cannot be read now, or not yet up to the deadline, or its token is disabled.",
  }),
  nextAction: z.enum(nextActions).meta({
    description:
      "The payer's next step. Show the amount and the address only while it is `pay`: in any other state a payment could be lost or made twice.",
  }),
  notices: z.array(z.enum(checkoutNotices)).meta({
    description:
      "Remarks on the state. `payment_reverted`: a reorganization removed a payment that had counted, and it is no longer expected back. `transaction_failed`: the last submitted transaction failed on the network. `network_delayed`: the network cannot be read now, so the confirmations may be behind.",
  }),
  invoice: CheckoutInvoiceRecord,
  qrCode: z.string().meta({
    description:
      "Content of the QR code: the bare address, which every wallet reads the same way. Show the amount beside it.",
  }),
  paymentUri: z.string().nullable().meta({
    description:
      "A payment URI with chain, token and amount (EIP-681); null if the network has none or nothing is payable. Some wallets take the token's contract in it for the recipient: offer it only with the address that the wallet must then show.",
  }),
  /** Instructions for the payer, as a sentence. */
  paymentInstructions: z.string(),
  merchantDisplayName: z.string(),
  merchantWebsite: z.string().nullable(),
  merchantContactEmail: z.string().nullable(),
  merchantAccentColor: z.string().nullable().meta({
    description: "The merchant's color, such as `#0b5f4e`. Check its contrast before you use it.",
  }),
  merchantLogoPath: z.string().nullable().meta({
    description: "The path of the merchant's logo below this instance's address.",
  }),
  networkTitle: z.string().meta({ description: "Such as `TRON`." }),
  tokenStandard: z.string().meta({
    description:
      "Such as `TRC-20`. Show it beside the network, so that payers choose the right one.",
  }),
  networkCoin: z.string().nullable().meta({
    description:
      "The coin in which the network's fees are paid, such as `TRX`; null on a test network, and where it is unknown.",
  }),
  isAddressShared: z.boolean().meta({
    description:
      "True if other invoices have the same address, so that the exact amount tells their payments apart.",
  }),
  isTest: z.boolean().meta({ description: "True if the network's tokens have no value." }),
  confirmationProgress: ConfirmationProgress,
  confirmationSeconds: z.int().nullable().meta({
    description:
      "Expected time until the payment is confirmed, in seconds; null unless confirming.",
  }),
  lastCheckedAt: datetime().nullable().meta({
    description:
      "The time of the newest block that was read; null unless the state is `cannot_check`, and if no block was ever read.",
  }),
  transactions: z.array(CheckoutTransactionRecord).meta({
    description:
      "The transactions that count, without duplicates, and those of an expired or canceled invoice that wait for the merchant's decision; in the state `reverted`, those expected back too.",
  }),
  submittedTransactions: z.array(SubmittedTransactionRecord).meta({
    description: "The latest transactions that were submitted for this checkout, newest first.",
  }),
  redirectUrl: z.string().nullable(),
  receipt: CheckoutReceiptRecord.nullable(),
});

export const SubmitTransactionRequest = requestRecord("SubmitTransactionRequest", {
  /** With or without 0x, in any case, or an explorer link that contains it. */
  transactionHash: z.string().min(1).max(2_048),
});
