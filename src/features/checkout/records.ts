import * as z from "zod";
import {
  datetime,
  describeFields,
  moneyText,
  requestRecord,
  responseRecord,
} from "../../http/declare/record.ts";
import { walletStandards } from "../../platform/chain/networks.ts";
import { ConfirmationProgress, InvoiceStatusRecord } from "../invoices/records.ts";
import { claimResults } from "../payments/hash-claims/status.ts";
import { refundAddress, refundHash } from "../refunds/records.ts";
import { refundStatuses } from "../refunds/status.ts";
import { rejectedRequestsMax } from "../refunds/rules.ts";
import { checkoutNotices, checkoutStates, nextActions } from "./rules.ts";

const optionCodeMax = 40;

const CheckoutInvoiceRecord = responseRecord("CheckoutInvoice", {
  id: z.string(),
  reference: z.string().meta({
    description:
      "A short reference for payer and merchant, such as `P7K2-9QXD`. The merchant finds the invoice by it with `search`.",
  }),
  description: z.string().nullable(),
  externalId: z.string().nullable(),
  status: InvoiceStatusRecord,
  amount: moneyText(),
  paidAmount: moneyText(),
  settlementCurrency: z.string(),
  tokenSymbol: z.string(),
  network: z.string(),
  walletAddress: z.string(),
  checkoutUrl: z.string(),
  expiresAt: datetime(),
  payableAmount: moneyText(),
  remainingAmount: moneyText(),
  receivedAmount: moneyText().meta({
    description: "The amount that has arrived and counts, in tokens, whether confirmed or not.",
  }),
  excessAmount: moneyText().meta({
    description: "The part of `receivedAmount` above the requested amount, in tokens.",
  }),
});
describeFields(CheckoutInvoiceRecord, {
  id: "The invoice's `publicId`, for payers: not the `id` by which its merchant reads it.",
  description: "The purchase, in the merchant's words; null without one.",
  externalId: "The merchant's own number, such as an order number; null without one.",
  status: "The invoice's status. Show the payer `state` of the session instead.",
  amount: "The price: a decimal string in `settlementCurrency`.",
  paidAmount:
    "The worth of the detected payments at the invoice's rate: a decimal string in `settlementCurrency`, rounded down.",
  walletAddress: "The address to pay, in the network's notation.",
  checkoutUrl: "The URL of the checkout page.",
  expiresAt: "The deadline of the payment: ISO 8601, UTC.",
  payableAmount: "The requested amount in total: a decimal string in tokens.",
  remainingAmount: "The amount still to be sent: a decimal string in tokens.",
});

export const CheckoutReceiptRecord = responseRecord("CheckoutReceipt", {
  invoiceId: z.string(),
  amount: moneyText(),
  paidAmount: moneyText(),
  settlementCurrency: z.string(),
  tokenSymbol: z.string(),
  network: z.string(),
  paidAt: datetime(),
  transactionHashes: z.array(z.string()),
});
describeFields(CheckoutReceiptRecord, {
  invoiceId: "The invoice's `publicId`.",
  amount: "The price: a decimal string in `settlementCurrency`.",
  paidAmount:
    "The worth of the payments at the invoice's rate: a decimal string in `settlementCurrency`, rounded down.",
  paidAt: "Time of the block that completed the amount: ISO 8601, UTC.",
  transactionHashes: "The transactions that count, in the notation of the network's explorers.",
});

export const CheckoutAmountRecord = responseRecord("CheckoutAmount", {
  amount: moneyText(),
  tokenSymbol: z.string(),
});
describeFields(CheckoutAmountRecord, { amount: "A decimal string in tokens." });

const CheckoutTransactionRecord = responseRecord("CheckoutTransaction", {
  transactionHash: z.string().meta({ description: "In the notation of the network's explorers." }),
  explorerUrl: z.string().nullable().meta({
    description: "The block explorer's page; null if the network has no explorer.",
  }),
  amount: moneyText().meta({ description: "The part that is for this invoice, in tokens." }),
  tokenSymbol: z.string(),
});

const SubmittedTransactionRecord = responseRecord("SubmittedTransaction", {
  transactionHash: z.string().meta({ description: "In the notation of the network's explorers." }),
  result: z.enum(claimResults).meta({
    description:
      "The outcome of the search. `looking`: the search goes on. `unknown`: the network does not know it yet. `counted`: it counts toward the invoice. `in_review`: the merchant decides. `reverted`: a reorganization removed it. The others end the search, until the transaction is submitted again: `failed` on the network, `other_address`, `other_token`, `token_disabled`, `too_small`, `too_early` (older than the invoice), `too_late` (after the time in which late payments are matched), `not_for_this`, `given_up` (never found), `displaced` (never found, and dropped in favor of a newer one).",
  }),
});

const CheckoutWalletTransferRecord = responseRecord("CheckoutWalletTransfer", {
  walletStandard: z.enum(walletStandards).meta({
    description:
      "The standard by which a page finds the wallets of the payer's browser: EIP-6963, or TIP-6963 on TRON.",
  }),
  chainId: z.string().meta({ description: "As wallets write it, such as `0x1`." }),
  tokenContract: z.string(),
  tokenDecimals: z.int(),
  recipient: z.string(),
  units: z.string().meta({ description: "The amount in the token's smallest unit." }),
  data: z.string().meta({ description: "The calldata of `transfer(recipient, units)`, with 0x." }),
});
describeFields(CheckoutWalletTransferRecord, {
  tokenContract: "The address of the token's contract, in the network's notation.",
  tokenDecimals:
    "The token's number of decimals: one token is 10 to this power of its smallest unit.",
  recipient: "The address to pay, in the network's notation.",
});

const CheckoutRefundableRecord = responseRecord("CheckoutRefundable", {
  transactionHash: z.string().meta({ description: "The `transactionHash` of the request." }),
  amount: moneyText().meta({ description: "The amount that the request is for, in tokens." }),
  tokenSymbol: z.string(),
  network: z.string().meta({
    description: "The id of the network, of which the payer's address for the refund must be.",
  }),
  networkTitle: z.string(),
  tokenStandard: z.string(),
});
describeFields(CheckoutRefundableRecord, {
  networkTitle: "The network's name for people, such as `TRON`.",
  tokenStandard:
    "The token's standard on the network, such as `TRC-20`. Show it beside the network.",
});

export const CheckoutRefundRecord = responseRecord("CheckoutRefund", {
  status: z.enum(refundStatuses).meta({
    description:
      "`requested` waits for the merchant, `sent` is being verified, `confirmed` is final, `rejected` will not be sent.",
  }),
  amount: moneyText(),
  tokenSymbol: z.string(),
  network: z.string(),
  address: z.string().meta({
    description:
      "The beginning and the end of the recipient's address: others may have the link to the checkout too.",
  }),
  transactionHash: z.string().nullable().meta({
    description: "The transaction that pays it, in the notation of the network's explorers.",
  }),
  explorerUrl: z.string().nullable(),
  reason: z.string().nullable().meta({
    description: "Why the merchant rejected it; null if Till did, because the payment is needed.",
  }),
});
describeFields(CheckoutRefundRecord, {
  amount: "The amount of the refund: a decimal string in tokens.",
  explorerUrl:
    "The block explorer's page; null without a transaction, or if the network has no explorer.",
});

const CheckoutOptionRecord = responseRecord("CheckoutOption", {
  network: z.string(),
  networkTitle: z.string(),
  tokenStandard: z.string(),
  tokenSymbol: z.string(),
  isInForce: z.boolean().meta({ description: "True for the option that `invoice` describes." }),
  isHeld: z.boolean().meta({
    description: "True if it was chosen before, so that its rate is locked until the deadline.",
  }),
});
describeFields(CheckoutOptionRecord, {
  networkTitle: "The network's name for people, such as `TRON`.",
  tokenStandard:
    "The token's standard on the network, such as `TRC-20`. Show it beside the network.",
});

export const CheckoutSessionRecord = responseRecord("CheckoutSession", {
  id: z.string(),
  state: z.enum(checkoutStates).meta({
    description:
      "The state of the payment, as the checkout page shows it. `awaiting`: nothing has arrived. `partly_paid`: a part has. `confirming`: the whole amount was detected. `paid`, `overpaid`, `paid_late`: the invoice is paid; with more than was asked for; after its deadline. `in_review`: a payment waits for the merchant's decision; `late_review`: so does one that arrived after the deadline; `canceled_review`: so does one for a canceled invoice. `reverted`: a reorganization removed a payment that normally returns; until it does, or the chain is final without it, nothing should be sent. `expired_unpaid`: the deadline is over and no payment counts; one that was rejected is in `arrivedAmounts` until it is returned. `expired_partly_paid`: a part counts. `canceled`: the merchant canceled the invoice. `cannot_check`: the network cannot be read now, or not yet up to the deadline, or its token is disabled.",
  }),
  nextAction: z.enum(nextActions).meta({
    description:
      "The payer's next step, and so what the merchant's shop tells its customer. Show the amount and the address only while it is `pay`: in any other state a payment could be lost or made twice. `pay`: send `remainingAmount`. `wait`: a payment is being confirmed, or decided on by the merchant, or expected back after a reorganization, or a refund was requested and is not confirmed, or the payer can soon ask for money that the invoice does not need: when the network has confirmed its payment or, if the merchant did not accept the payment, when its block is final; send nothing. `check_again`: the deadline is over and the newest blocks are not read yet, so a payment may still be found; look again later. `request_new_link`: the deadline is over and no money is left over; whoever still wants to pay asks the merchant for a new invoice. With the notice `payment_reverted`, the chain is final without the payment: a merchant who has delivered sends a new invoice. `request_refund`: money has arrived that the invoice does not need, and the payer can ask for it with the hash of the payment's transaction and an address of their own (`canRequestRefund` is true). `contact_merchant`: the invoice is canceled, or cannot be paid now, or money is left over that the payer cannot ask for; ask the merchant. `none`: all is done, also after the refund of an excess. Money that came although the invoice is not paid is in `arrivedAmounts`.",
  }),
  notices: z.array(z.enum(checkoutNotices)).meta({
    description:
      "Remarks on the state. `payment_reverted`: a reorganization removed a payment that had counted, and it is no longer expected back. `transaction_failed`: the last submitted transaction failed on the network. `network_delayed`: the network cannot be read now, so the confirmations may be behind. `other_amount`: a payment waits for the merchant's decision because another amount has arrived than was asked for. `payment_moved`: the merchant has moved the payment that arrived to another invoice.",
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
  walletTransfer: CheckoutWalletTransferRecord.nullable().meta({
    description:
      "The transfer of the remaining amount, for a wallet in the payer's browser. Read the session again right before you ask the wallet. Null if nothing is payable, while a submitted transaction is being looked for, and on networks without such wallets.",
  }),
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
  networkTitle: z.string().meta({
    description:
      "Such as `TRON`; the network's id if it was removed from the instance's table of networks.",
  }),
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
      "When a new block was last read; null unless the state is `cannot_check`, and if no block was ever read.",
  }),
  arrivedAmounts: z.array(CheckoutAmountRecord).meta({
    description:
      "The amounts that have arrived, by token: `receivedAmount` with the payments that wait for the merchant's decision and, of an expired or canceled invoice, those that the merchant rejected and the payer can ask back, or could before the merchant had rejected too many requests. Empty if nothing has arrived.",
  }),
  transactions: z.array(CheckoutTransactionRecord).meta({
    description:
      "The transactions that count, each once for each token, and those of an expired or canceled invoice that wait for the merchant's decision or can be asked back; in the state `reverted`, those expected back too.",
  }),
  submittedTransactions: z.array(SubmittedTransactionRecord).meta({
    description:
      "At most 10 transactions that were submitted for this checkout: first those that are looked for or wait for the merchant, then the latest others; the newest first in both.",
  }),
  canRequestRefund: z.boolean().meta({
    description: `True if a payment has an amount that the invoice does not need, no refund of it is open, and the merchant has not rejected ${String(rejectedRequestsMax)} requests for it.`,
  }),
  refundable: CheckoutRefundableRecord.nullable().meta({
    description:
      "The payer's next request for a refund: it is for the newest payment with an amount to ask for, one that a hash was submitted for only if there is no other. Null while `canRequestRefund` is false.",
  }),
  refunds: z.array(CheckoutRefundRecord).meta({ description: "The latest, newest first." }),
  options: z.array(CheckoutOptionRecord).meta({
    description:
      "The tokens and networks among which the payer can choose now, the lowest usual network fee first; empty if there is no choice.",
  }),
  redirectUrl: z.string().nullable(),
  receipt: CheckoutReceiptRecord.nullable(),
});
describeFields(CheckoutSessionRecord, {
  id: "The checkout's unguessable id, which is part of its URL.",
  invoice: "The invoice, as its payer may see it.",
  paymentInstructions: "Instructions for the payer, as an English sentence.",
  merchantDisplayName: "The merchant's name for payers.",
  merchantWebsite: "The merchant's website; null without one.",
  merchantContactEmail:
    "The merchant's e-mail address for questions about payments; null without one.",
  confirmationProgress:
    "The confirmations of the payment that takes longest, on whichever network.",
  redirectUrl: "The shop's page to which the payer returns; null without one.",
  receipt: "The receipt; null until the invoice is paid.",
});

export const SubmitTransactionRequest = requestRecord("SubmitTransactionRequest", {
  transactionHash: z.string().min(1).max(2_048),
});
describeFields(SubmitTransactionRequest, {
  transactionHash:
    "The hash with or without 0x, in any case, or an explorer's link that contains it.",
});

/** The longest token that is compared, in characters. */
const pageTokenMax = 100;

export const RequestRefundRequest = requestRecord("RequestRefundRequest", {
  transactionHash: refundHash().meta({
    description: "The transaction of the payment, with or without 0x, or an explorer's link to it.",
  }),
  address: refundAddress().meta({
    description:
      "The recipient, on the payment's network. It cannot be changed later. Let the payer confirm it first: a deposit address at an exchange is fine, the address from which an exchange sent the payment is not.",
  }),
  pageToken: z.string().min(1).max(pageTokenMax).meta({
    description: "The hidden field of the refund form on the page at `checkoutUrl`.",
  }),
});

export const ChooseOptionRequest = requestRecord("ChooseOptionRequest", {
  network: z.string().min(1).max(optionCodeMax),
  tokenSymbol: z.string().min(1).max(optionCodeMax),
});
