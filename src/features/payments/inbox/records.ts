import { z } from "zod";
import { pageParameters } from "../../../api/declare/list.ts";
import {
  datetime,
  id,
  listRecord,
  money,
  moneyAnswer,
  requestRecord,
  responseRecord,
} from "../../../api/declare/record.ts";
import { InvoiceStatusRecord } from "../../invoices/index.ts";
import { claimStates } from "../hash-claims/status.ts";
import { matchRules, paymentSources, paymentStatuses } from "../payment-status.ts";
import { suggestionReasons } from "./suggestions.ts";
import { transferDecisionKinds, transferStatuses } from "./status.ts";

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

const TransferSuggestionRecord = responseRecord("TransferSuggestion", {
  invoiceId: id("invoice"),
  publicId: z.string(),
  externalId: z.string().nullable(),
  invoiceStatus: InvoiceStatusRecord,
  amount: moneyAnswer().meta({ description: "The amount to allocate to it, in tokens." }),
  remainingAmount: moneyAnswer().meta({
    description: "The amount that it still asks for, in tokens.",
  }),
  reasons: z.array(z.enum(suggestionReasons)).meta({ description: "Strongest first." }),
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
    description: "The part that counts for no invoice. Payments in review do not count yet.",
  }),
  blockNumber: z.int().min(0),
  blockTime: datetime(),
  confirmations: z.int().min(0),
  status: z.enum(transferStatuses),
  allocations: z.array(TransferAllocationRecord).meta({ description: "Oldest first." }),
  suggestions: z.array(TransferSuggestionRecord).meta({
    description: "Invoices that an unmatched transfer is probably for, best first; at most 5.",
  }),
  decisions: z.array(TransferDecisionRecord).meta({
    description: "Decisions about the transfer and their actors, newest first. Empty in lists.",
  }),
  createdAt: datetime(),
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

export const AllocateTransferRequest = requestRecord("AllocateTransferRequest", {
  allocations: z.array(AllocationInputRecord).min(1).max(allocationsMax),
});
