import * as z from "zod";
import { pageParameters } from "../../../http/declare/list.ts";
import {
  datetime,
  describeFields,
  id,
  listRecord,
  money,
  moneyText,
  requestRecord,
  responseRecord,
} from "../../../http/declare/record.ts";
import { InvoiceStatusRecord } from "../../invoices/records.ts";
import { claimStates } from "../hash-claims/status.ts";
import { matchRules, paymentSources, paymentStatuses } from "../payment-status.ts";
import { suggestionReasons, type Suggestion } from "./suggestions.ts";
import {
  transferDecisionKinds,
  transferStatuses,
  waitingReasons,
  waitingReasonWords,
  type MerchantTransferStatus,
  type WaitingReason,
} from "./status.ts";
import { formatMoney, money as moneyOf, tokenAsset } from "../../../kernel/money/money.ts";
import { toIso, toIsoOrNull } from "../../../kernel/clock.ts";
import type { Notation } from "../../../platform/chain/networks.ts";
import { confirmationsOf } from "../../../platform/chain/state/network-state.ts";
import { resultOf } from "../hash-claims/rules.ts";
import { isVerified, takenOf } from "../ledger/payment-rules.ts";
import type { ClaimRow, DecisionRow, PaymentRow, TransferRow } from "../table.ts";

/** The largest number of invoices to which one request may allocate a transfer. */
const allocationsMax = 20;

const TransferAllocationRecord = responseRecord("TransferAllocation", {
  paymentId: id("payment"),
  invoiceId: id("invoice"),
  amount: moneyText(),
  status: z.enum(paymentStatuses),
  rule: z.enum(matchRules).meta({
    description: "The rule that assigned it to this invoice; `manual` if the merchant decided.",
  }),
  source: z.enum(paymentSources),
  createdAt: datetime(),
});
describeFields(TransferAllocationRecord, {
  amount: "The allocated part of the transfer: a decimal string in tokens.",
  status: "The status of the payment. Only `confirming` and `confirmed` payments count.",
  source: "How Till found the payment.",
});

const TransferSuggestionRecord = responseRecord("TransferSuggestion", {
  invoiceId: id("invoice"),
  publicId: z.string(),
  externalId: z.string().nullable(),
  invoiceStatus: InvoiceStatusRecord,
  amount: moneyText().meta({ description: "The amount to allocate to it, in tokens." }),
  remainingAmount: moneyText().meta({
    description: "The amount that it still asks for, in tokens.",
  }),
  reasons: z.array(z.enum(suggestionReasons)).meta({
    description:
      "Why the invoice is suggested, strongest first. `in_review`: a payment of the transfer to this invoice waits for a decision. `same_amount`: the unallocated amount is what the invoice still asks for, or its whole amount. `rounded_amount`: it is what the invoice asks for, rounded to two decimals or without the digits that tell it from others. `close_amount`: the two differ by at most 5 %, as when an exchange deducts its fee. `same_customer`: the sender has paid invoices of the same customer before. `possible_part`: less than the invoice asks for, sent to its address between its issue and its deadline. `in_time`: sent between its issue and its deadline. `already_paid`: the invoice asked for exactly this amount and is paid, so its payer may have paid twice. `issued_afterwards`: the invoice was issued after the block of the transfer, so its payer cannot have sent it; such invoices come last, and allocating to them is usually wrong. Money at an invoice's own address is suggested for that invoice and others of its customer only, and an invoice with an address of its own for money at another one only if the sender has paid for its customer before. An invoice whose payment of the transfer was rejected or reversed is not suggested.",
  }),
});
describeFields(TransferSuggestionRecord, {
  externalId: "The invoice's `externalId`; null without one.",
  invoiceStatus: "The invoice's status.",
});

const TransferDecisionRecord = responseRecord("TransferDecision", {
  decision: z.enum(transferDecisionKinds),
  paymentId: id("payment").nullable(),
  invoiceId: id("invoice").nullable(),
  amount: moneyText(),
  actorType: z.enum(["user", "api_key", "operator", "system"]),
  actorId: z.string().nullable(),
  actorLabel: z.string(),
  createdAt: datetime(),
});
describeFields(TransferDecisionRecord, {
  decision: "The decision.",
  paymentId: "The id of the payment that it concerns; null if it concerns the transfer.",
  invoiceId: "The id of that payment's invoice; null if it concerns the transfer.",
  amount: "The amount that it concerns: a decimal string in tokens.",
  actorType: "The kind of actor.",
  actorId: "The id of the user or API key; null for the operator and the system.",
  actorLabel: "The user's e-mail address, the key's name, the operator's name, or `system`.",
  createdAt: "Time of the decision: ISO 8601, UTC.",
});

export const TransferRecord = responseRecord("Transfer", {
  id: id("transfer"),
  network: z.string(),
  tokenSymbol: z.string(),
  transactionHash: z.string(),
  logIndex: z.int().min(0),
  fromAddress: z.string(),
  toAddress: z.string(),
  amount: moneyText(),
  unallocatedAmount: moneyText().meta({
    description:
      "The part that counts for no invoice: a decimal string in tokens. Payments in review do not count yet.",
  }),
  blockNumber: z.int().min(0),
  blockTime: datetime(),
  confirmations: z.int().min(0),
  isVerified: z.boolean().meta({
    description:
      "True once two of the network's providers have the transfer, or the only one has confirmed it. They are asked when its block is final.",
  }),
  status: z.enum(transferStatuses),
  waitingReason: z
    .enum(waitingReasons)
    .nullable()
    .meta({
      description: `Why an unmatched transfer that fits an invoice was not credited, and waits for your decision. ${waitingReasons.map((reason) => `\`${reason}\`: ${waitingReasonWords[reason]}.`).join(" ")} Null if it fits no invoice, and once a part of it is allocated.`,
    }),
  allocations: z.array(TransferAllocationRecord).meta({ description: "Oldest first." }),
  suggestions: z.array(TransferSuggestionRecord).meta({
    description: "Invoices that an unmatched transfer is probably for, best first; at most 5.",
  }),
  decisions: z.array(TransferDecisionRecord).meta({
    description: "Decisions about the transfer and their actors, newest first. Empty in lists.",
  }),
  createdAt: datetime(),
});
describeFields(TransferRecord, {
  logIndex:
    "The index of the transfer's log, as it was first read. Providers count it differently, and a reorganization may change it, so it identifies nothing.",
  fromAddress: "The address that sent the tokens, in the network's notation.",
  toAddress: "The address that received the tokens, in the network's notation.",
  amount: "The transferred amount: a decimal string in tokens.",
  blockNumber: "The number of the transfer's block.",
  blockTime: "Time of the transfer's block: ISO 8601, UTC.",
  confirmations:
    "Number of blocks from its own to the newest one that Till has read, including both; 0 while it is off the chain.",
  status:
    "`unmatched` while a part of it counts for no invoice, `matched` once all of it does, `ignored` if the merchant took it out of the inbox, `reverted` while it is off the chain.",
  createdAt: "Time when Till found it: ISO 8601, UTC.",
});

export const TransferListRecord = listRecord("TransferList", TransferRecord);

/** The filters of the list of transfers. */
export const transferQuery = {
  ...pageParameters,
  status: z.enum([...transferStatuses, "all"]).optional(),
};
export const TransferQuery = z.strictObject(transferQuery);

/** The filters of the operator's list of hash claims. */
export const ClaimQuery = z.strictObject({
  ...pageParameters,
  state: z.enum(claimStates).optional(),
});

const AllocationInputRecord = requestRecord("AllocationInput", {
  invoiceId: id("invoice"),
  amount: money().meta({ description: "In the token of the transfer." }),
});
describeFields(AllocationInputRecord, {
  invoiceId: "The id of the invoice that the amount counts for.",
});
/** A part of a transfer to assign to an invoice, as requested. The amount is decimal text in the transfer's token. */
export type AllocationInput = z.output<typeof AllocationInputRecord>;

export const AllocateTransferRequest = requestRecord("AllocateTransferRequest", {
  allocations: z.array(AllocationInputRecord).min(1).max(allocationsMax),
});
describeFields(AllocateTransferRequest, {
  allocations:
    "The invoices to which the transfer is allocated, with amounts. One item for each invoice.",
});

/** The `data` of `wallet_inbox.full`. */
export const WalletInboxRecord = responseRecord("WalletInbox", {
  walletId: id("wallet"),
  network: z.string(),
  address: z.string(),
  transfersNotRecorded: z.int(),
  recordedPerDay: z.int(),
  fromBlockNumber: z.int(),
  toBlockNumber: z.int(),
});
describeFields(WalletInboxRecord, {
  address: "The address of the wallet, in the network's notation.",
  transfersNotRecorded:
    "Number of transfers to the address in these blocks that matched no invoice and were not recorded.",
  recordedPerDay:
    "Number of unmatched transfers of a day that are recorded at an address without open invoices; at one with open invoices ten times as many.",
  fromBlockNumber: "The first block that was read.",
  toBlockNumber: "The last block that was read.",
});

/** A transfer with the data needed to present it. */
export interface TransferView {
  readonly transfer: TransferRow;
  readonly notation: Notation;
  /** The newest scanned block of the network. */
  readonly tipHeight: number;
  /** Every payment of the transfer, of any organization. */
  readonly payments: readonly PaymentRow[];
  /** Newest first. */
  readonly decisions: readonly DecisionRow[];
  /** Best first. */
  readonly suggestions: readonly Suggestion[];
}

/** A hash claim with the data needed to present it. */
export interface ClaimView {
  readonly claim: ClaimRow;
  readonly notation: Notation;
  /** The payments of its invoice by its transaction. */
  readonly payments: readonly PaymentRow[];
}

export function dispositionOfTransfer({
  status,
  disposition,
}: TransferRow): MerchantTransferStatus {
  return status === "orphaned" ? "reverted" : disposition;
}

/** Returns why a transfer waits; null if it does not, or if a part of it is allocated: then the merchant left the rest. */
function waitingReasonOf({ transfer, payments }: TransferView): WaitingReason | null {
  const waits = dispositionOfTransfer(transfer) === "unmatched" && takenOf(payments) === 0n;
  return waits ? transfer.waitingReason : null;
}

/** Returns the transfer as the API and events show it, without data of other organizations. */
export function presentTransfer(view: TransferView): z.input<typeof TransferRecord> {
  const { transfer, notation, tipHeight, suggestions } = view;
  const asset = tokenAsset(transfer.token, transfer.tokenDecimals);
  const tokens = (units: bigint) => formatMoney(moneyOf(units, asset));
  const isOwn = (row: PaymentRow | DecisionRow) => row.organizationId === transfer.organizationId;
  return {
    id: transfer.id,
    network: transfer.network,
    tokenSymbol: transfer.token,
    transactionHash: notation.formatTransactionHash(transfer.transactionHash),
    logIndex: transfer.logIndex,
    fromAddress: notation.formatAddress(transfer.fromAddress),
    toAddress: notation.formatAddress(transfer.toAddress),
    amount: tokens(transfer.amount),
    unallocatedAmount: tokens(transfer.amount - takenOf(view.payments)),
    blockNumber: transfer.blockHeight,
    blockTime: toIso(transfer.blockTime),
    confirmations:
      transfer.status === "seen" ? confirmationsOf(tipHeight, transfer.blockHeight) : 0,
    isVerified:
      transfer.verification === "verified" ||
      view.payments.some((payment) => isVerified(payment, transfer)),
    status: dispositionOfTransfer(transfer),
    waitingReason: waitingReasonOf(view),
    allocations: view.payments.filter(isOwn).map((payment) => ({
      paymentId: payment.id,
      invoiceId: payment.invoiceId,
      amount: tokens(payment.amount),
      status: payment.status,
      rule: payment.rule,
      source: payment.source,
      createdAt: toIso(payment.createdAt),
    })),
    suggestions: suggestions.map(({ invoice, amount, reasons }) => ({
      invoiceId: invoice.id,
      publicId: invoice.publicId,
      externalId: invoice.externalId,
      invoiceStatus: invoice.status,
      amount: tokens(amount),
      remainingAmount: tokens(invoice.remainingAmount ?? 0n),
      reasons: [...reasons],
    })),
    decisions: view.decisions.filter(isOwn).map((decision) => ({
      decision: decision.decision,
      paymentId: decision.paymentId,
      invoiceId: decision.invoiceId,
      amount: tokens(decision.amount),
      actorType: decision.actorType,
      actorId: decision.actorId,
      actorLabel: decision.actorLabel,
      createdAt: toIso(decision.createdAt),
    })),
    createdAt: toIso(transfer.createdAt),
  };
}

/** Returns a hash claim for the operator only: its reason may reveal other invoices. */
export function presentClaim({ claim, notation, payments }: ClaimView) {
  return {
    id: claim.id,
    invoiceId: claim.invoiceId,
    network: claim.network,
    transactionHash: notation.formatTransactionHash(claim.transactionHash),
    state: claim.state,
    reason: claim.reason,
    result: resultOf(claim.state, claim.reason, payments),
    attempts: claim.attempts,
    createdAt: toIso(claim.createdAt),
    closedAt: toIsoOrNull(claim.closedAt),
  };
}
