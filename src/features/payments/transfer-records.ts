import { z } from "zod";
import { pageParameters } from "../../api/list.ts";
import {
  datetime,
  id,
  listRecord,
  money,
  moneyAnswer,
  requestRecord,
  responseRecord,
} from "../../api/record.ts";
import { InvoiceStatusRecord } from "../invoices/index.ts";
import { claimStates } from "./claim-status.ts";
import { matchRules, paymentSources, paymentStatuses } from "./status.ts";
import { suggestionReasons } from "./suggestions.ts";
import { transferDecisionKinds, transferStatuses } from "./transfer-status.ts";

/** How many invoices one request may allocate a transfer to. */
export const allocationsMax = 20;

const TransferAllocationRecord = responseRecord("TransferAllocation", {
  paymentId: id("payment"),
  invoiceId: id("invoice"),
  amount: moneyAnswer(),
  status: z.enum(paymentStatuses),
  rule: z.enum(matchRules).meta({
    description: "Why it is this invoice's: the rule that matched it, or `manual` by a decision.",
  }),
  source: z.enum(paymentSources),
  createdAt: datetime(),
});

const TransferSuggestionRecord = responseRecord("TransferSuggestion", {
  invoiceId: id("invoice"),
  publicId: z.string(),
  externalId: z.string().nullable(),
  invoiceStatus: InvoiceStatusRecord,
  amount: moneyAnswer().meta({ description: "In tokens: what to allocate to it." }),
  remainingAmount: moneyAnswer().meta({ description: "In tokens: what it still asks for." }),
  reasons: z.array(z.enum(suggestionReasons)).meta({ description: "The strongest first." }),
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
    description: "What of it counts for no invoice. Money in review counts for none yet.",
  }),
  blockNumber: z.int().min(0),
  blockTime: datetime(),
  confirmations: z.int().min(0),
  status: z.enum(transferStatuses),
  allocations: z.array(TransferAllocationRecord).meta({ description: "Oldest first." }),
  suggestions: z.array(TransferSuggestionRecord).meta({
    description: "Invoices that an unmatched transfer may be for, best first, at most 5.",
  }),
  decisions: z.array(TransferDecisionRecord).meta({
    description: "Who decided what about it, newest first; in a list it is empty.",
  }),
  createdAt: datetime(),
});

export const TransferListRecord = listRecord("TransferList", TransferRecord);

/** What narrows the list of transfers. */
export const transferQuery = {
  ...pageParameters,
  status: z.enum([...transferStatuses, "all"]).optional(),
};
export const TransferQuery = z.strictObject(transferQuery);

/** What narrows the operator's list of submitted transactions. */
export const ClaimQuery = z.strictObject({
  ...pageParameters,
  state: z.enum(claimStates).optional(),
});

const AllocationInputRecord = requestRecord("AllocationInput", {
  invoiceId: id("invoice"),
  amount: money().meta({ description: "In the transfer's token." }),
});

export const AllocateTransferRequest = requestRecord("AllocateTransferRequest", {
  allocations: z.array(AllocationInputRecord).min(1).max(allocationsMax),
});
