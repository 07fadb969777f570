import * as z from "zod";
import { pageParameters } from "../../../api/declare/list.ts";
import { describeFields } from "../../../api/declare/field-descriptions.ts";
import {
  datetime,
  id,
  listRecord,
  money,
  moneyAnswer,
  requestRecord,
  responseRecord,
} from "../../../api/declare/record.ts";
import { InvoiceStatusRecord } from "../../invoices/records.ts";
import { claimStates } from "../hash-claims/status.ts";
import { matchRules, paymentSources, paymentStatuses } from "../payment-status.ts";
import { suggestionReasons } from "./suggestions.ts";
import {
  transferDecisionKinds,
  transferStatuses,
  waitingReasons,
  waitingReasonWords,
} from "./status.ts";

/** The largest number of invoices to which one request may allocate a transfer. */
export const allocationsMax = 20;

const TransferAllocationRecord = responseRecord("TransferAllocation", {
  paymentId: id("payment"),
  invoiceId: id("invoice"),
  amount: moneyAnswer(),
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
  amount: moneyAnswer().meta({ description: "The amount to allocate to it, in tokens." }),
  remainingAmount: moneyAnswer().meta({
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
  amount: moneyAnswer(),
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
  amount: moneyAnswer(),
  unallocatedAmount: moneyAnswer().meta({
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
