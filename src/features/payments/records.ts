import * as z from "zod";
import {
  datetime,
  describeFields,
  id,
  listRecord,
  moneyText,
  objectVersion,
  presentRow,
  requestRecord,
  responseRecord,
} from "../../http/declare/record.ts";
import {
  anyAddress,
  createdTimes,
  exactly,
  momentOf,
  oneOrMore,
  pageParameters,
  paidTimes,
  transactionHash,
} from "../../http/declare/list.ts";
import type { FoundAddress } from "../../platform/chain/kinds.ts";
import { paymentSorts } from "./filters.ts";
import { paymentSources, paymentStatuses } from "./payment-status.ts";
import { formatMoney, money, settlementAsset, tokenAsset } from "../../kernel/money/money.ts";
import type { Notation } from "../../platform/chain/networks.ts";
import { confirmationsOf } from "../../platform/chain/state/network-state.ts";
import { isVerified } from "./ledger/payment-rules.ts";
import type { PaymentRow, TransferRow } from "./table.ts";

export const PaymentRecord = responseRecord("Payment", {
  id: id("payment"),
  invoiceId: id("invoice"),
  network: z.string(),
  tokenSymbol: z.string(),
  /** In the notation of the network's explorers. */
  transactionHash: z.string(),
  logIndex: z.int().min(0),
  fromAddress: z.string(),
  toAddress: z.string(),
  amount: moneyText(),
  settlementAmount: moneyText(),
  roundingAmount: moneyText(),
  settlementCurrency: z.string(),
  /** Tokens for one unit of the settlement currency. */
  exchangeRate: z.string().nullable().meta({
    description:
      "The rate at which the payment counts: the one that was locked when the payer was given this token and network. Null for payments recorded before Till stored it; then it is the invoice's.",
  }),
  blockNumber: z.int().min(0),
  blockTime: datetime(),
  confirmations: z.int().min(0),
  isVerified: z.boolean().meta({
    description:
      "True once two of the network's providers have the transfer, or the only one has confirmed it. Only then can the payment be confirmed or refunded.",
  }),
  requiredConfirmations: z.int().min(1),
  status: z.enum(paymentStatuses),
  source: z.enum(paymentSources),
  createdAt: datetime(),
  confirmedAt: datetime().nullable(),
  objectVersion: objectVersion(),
});
describeFields(PaymentRecord, {
  logIndex:
    "The index of the transfer's log, as it was first read. Providers count it differently, and a reorganization may change it, so it identifies nothing.",
  fromAddress: "The address that sent the tokens, in the network's notation.",
  toAddress: "The address that received the tokens, in the network's notation.",
  amount: "The part of the transfer that is assigned to this invoice: a decimal string in tokens.",
  settlementAmount:
    "Its contribution to the invoice's `paidAmount`: a decimal string in `settlementCurrency`.",
  roundingAmount:
    "The tokens that were missing when this payment completed its invoice, and that count as paid because no payer can send so little: less than the token's `minimumAmount` and at most 1 % of the invoice, in tokens. It is part of `settlementAmount` and not of `amount`; 0 for a payment that does not count.",
  blockNumber: "The number of the transfer's block.",
  blockTime: "Time of the transfer's block: ISO 8601, UTC.",
  confirmations:
    "Number of blocks from its own to the newest one that Till has read, including both; 0 while it is off the chain.",
  requiredConfirmations: "Confirmations at which it is confirmed.",
  status:
    "Only `confirming` and `confirmed` payments count. `review` waits for the merchant's decision, which may be `rejected`; `reverted` is off the chain.",
  source:
    "`detected` by Till, `submitted` by a payer as a transaction hash, or allocated by the merchant (`operator`).",
  confirmedAt: "Time when it was confirmed: ISO 8601, UTC; null until then.",
});

export const PaymentListRecord = listRecord("PaymentList", PaymentRecord);

/** The filters of an organization's payments. */
export const paymentQuery = {
  ...pageParameters,
  status: oneOrMore(paymentStatuses).optional(),
  invoiceId: id("invoice").optional(),
  network: exactly("The id of a network, such as tron.").optional(),
  tokenSymbol: exactly("The symbol of a token, such as USDT.").optional(),
  transactionHash: transactionHash().optional(),
  fromAddress: anyAddress().optional(),
  walletId: id("wallet").optional().meta({
    description:
      "Only payments whose transfer was received by this wallet: at its address, or at an address of its extended key.",
  }),
  ...createdTimes,
  ...paidTimes,
  sort: z.enum(paymentSorts).optional().meta({
    description:
      "`-` is descending. Default: `-createdAt`, or `-blockTime` with `paidFrom` or `paidTo`. `amount` requires `network` and `tokenSymbol`.",
  }),
};
/** The filters of every organization's payments. */
export const platformPaymentQuery = {
  organizationId: id("organization").optional().meta({
    description: "Required with `paidFrom`, `paidTo`, and a sort by `blockTime` or `amount`.",
  }),
  ...paymentQuery,
};

interface PaymentQuery {
  readonly createdFrom?: string | undefined;
  readonly createdTo?: string | undefined;
  readonly paidFrom?: string | undefined;
  readonly paidTo?: string | undefined;
  readonly fromAddress?: FoundAddress | undefined;
}

/** Converts the query to the form that the function takes. */
export function readPaymentQuery<Q extends PaymentQuery>({
  createdFrom,
  createdTo,
  paidFrom,
  paidTo,
  fromAddress,
  ...query
}: Q) {
  return {
    ...query,
    fromAddress: fromAddress?.address,
    createdFrom: momentOf(createdFrom),
    createdTo: momentOf(createdTo),
    paidFrom: momentOf(paidFrom),
    paidTo: momentOf(paidTo),
  };
}

export const ReversePaymentRequest = requestRecord("ReversePaymentRequest", {
  toInvoiceId: id("invoice").optional().meta({
    description:
      "Moves the payment: allocates its amount, less what was refunded of it, to this other issued invoice in the same step, as `allocateTransfer` does. If it cannot be allocated, nothing changes.",
  }),
  cancel: z.boolean().optional().meta({
    description:
      "Cancels the payment's invoice in the same step, so that its page never asks for the money again; false by default. Refused with `invoice_not_cancelable`, and nothing changes, while other payments count for the invoice.",
  }),
});
/** Further effects of a reversal, in the same transaction. */
export type ReversePaymentInput = z.output<typeof ReversePaymentRequest>;

/** A payment with the data needed to present it. */
export interface PaymentView {
  readonly payment: PaymentRow;
  readonly transfer: TransferRow;
  readonly notation: Notation;
  /** The newest scanned block of the network. */
  readonly tipHeight: number;
}

/** Returns the payment as the API and events show it. */
export function presentPayment(view: PaymentView): z.input<typeof PaymentRecord> {
  const { payment, transfer, notation, tipHeight } = view;
  const isOnChain = transfer.status === "seen";
  const token = tokenAsset(payment.token, payment.tokenDecimals);
  const settlement = settlementAsset(payment.settlementCurrency, payment.settlementDecimals);
  return presentRow(PaymentRecord, payment, {
    tokenSymbol: payment.token,
    transactionHash: notation.formatTransactionHash(transfer.transactionHash),
    logIndex: transfer.logIndex,
    fromAddress: notation.formatAddress(transfer.fromAddress),
    toAddress: notation.formatAddress(transfer.toAddress),
    amount: formatMoney(money(payment.amount, token)),
    roundingAmount: formatMoney(money(payment.roundingAmount, token)),
    settlementAmount: formatMoney(money(payment.settlementAmount, settlement)),
    blockNumber: payment.blockHeight,
    isVerified: isVerified(payment, transfer),
    objectVersion: payment.version,
    confirmations: isOnChain ? confirmationsOf(tipHeight, payment.blockHeight) : 0,
  });
}
