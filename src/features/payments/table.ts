import type { Actor } from "../../kernel/actor.ts";
import type { Id } from "../../kernel/id.ts";
import {
  amount,
  flag,
  integer,
  table,
  text,
  time,
  type RowOf,
} from "../../platform/database/schema/table.ts";
import type { ClaimReason, ClaimState } from "./hash-claims/status.ts";
import type { MatchRule, PaymentSource, PaymentStatus } from "./payment-status.ts";
import type { Disposition, TransferDecision, WaitingReason } from "./inbox/status.ts";

type TransferStatus = "seen" | "orphaned";

/**
 * Whether the network's providers confirmed a transfer in its final block. `skipped`: nobody asks, because it is dust,
 * because no invoice was payable at its address, or because an earlier version entered it. A decision about it makes it
 * `open`.
 */
type TransferVerification = "open" | "verified" | "skipped";

/** Transfers of configured tokens to watched addresses. */
export const transfers = table(
  "transfers",
  {
    id: text<Id<"transfer">>(),
    network: text(),
    /** 64 lower-case hex digits. */
    transactionHash: text(),
    /** The index of its log when it was first read; for display and order. */
    logIndex: integer(),
    blockHeight: integer(),
    blockHash: text(),
    blockTime: time(),
    contract: text(),
    /** The token's symbol. */
    token: text(),
    tokenDecimals: integer(),
    fromAddress: text(),
    toAddress: text(),
    /** In the token's smallest unit. */
    amount: amount(),
    /** Its position, from 0, among the transfers of its transaction with the same contract, parties and amount. */
    ordinal: integer(),
    /** `orphaned` after a reorganization removed it from the chain; `seen` again if it comes back. */
    status: text<TransferStatus>(),
    /** True once its block is final. */
    isFinal: flag(),
    verification: text<TransferVerification>(),
    /** The owner of the receiving address, or of the paid invoice; null if the address has no owner. */
    organizationId: text<Id<"organization">>().nullable(),
    /** The invoice that it is assigned to, the first one of several; null if it is assigned to no invoice. */
    invoiceId: text<Id<"invoice">>().nullable(),
    /** Whether its amount is allocated, regardless of whether it is on the chain. */
    disposition: text<Disposition>(),
    /** Why it was not credited although it fits an invoice, at its last matching; null if it fitted none, or was. */
    waitingReason: text<WaitingReason>().nullable(),
    createdAt: time(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      {
        name: "transfers_identity",
        columns: [
          "transactionHash",
          "network",
          "contract",
          "fromAddress",
          "toAddress",
          "amount",
          "ordinal",
        ],
        unique: true,
      },
      {
        name: "transfers_revocable",
        columns: ["network", "blockHeight"],
        where: "is_final = 0 AND status = 'seen'",
      },
      { name: "transfers_organization", columns: ["organizationId", "id"] },
      {
        name: "transfers_inbox",
        columns: ["organizationId", "disposition", "id"],
        where: "disposition <> 'matched' AND status = 'seen'",
      },
      {
        name: "transfers_unverified",
        columns: ["network", "id"],
        where:
          "verification = 'open' AND is_final = 1 AND status = 'seen' AND disposition <> 'matched'",
      },
      {
        name: "transfers_reverted",
        columns: ["organizationId", "id"],
        where: "status = 'orphaned'",
      },
      {
        name: "transfers_unmatched",
        columns: ["network", "toAddress", "blockTime"],
        where: "invoice_id IS NULL AND status = 'seen'",
      },
      { name: "transfers_sender", columns: ["fromAddress", "organizationId", "id"] },
    ],
  },
);

/** The joined columns of a payment that have few distinct values. The SQL must match the index expressions exactly. */
export const paymentFacet = "(status || ' ' || network || ' ' || token)";

/** The parts of transfers that are assigned to invoices. An invoice's paid amount is the sum of its counted payments. */
export const payments = table(
  "payments",
  {
    id: text<Id<"payment">>(),
    organizationId: text<Id<"organization">>(),
    invoiceId: text<Id<"invoice">>(),
    transferId: text<Id<"transfer">>(),
    /** The transfer's transaction hash: 64 lower-case hex digits. */
    transactionHash: text(),
    network: text(),
    token: text(),
    /** The assigned part of the transfer, in the token's smallest unit. */
    amount: amount(),
    /** Its contribution to the invoice's paid amount, in the smallest unit of the settlement currency. */
    settlementAmount: amount(),
    /** The tokens that count in addition, because they are missing and nobody can be asked for them. */
    roundingAmount: amount(),
    settlementCurrency: text(),
    settlementDecimals: integer(),
    tokenDecimals: integer(),
    /** The rate of its option at which it counts: tokens for a unit of the settlement currency. Null for older ones. */
    exchangeRate: text().nullable(),
    /** The wallet of its option; null: that of its invoice. */
    walletId: text<Id<"wallet">>().nullable(),
    rule: text<MatchRule>(),
    source: text<PaymentSource>(),
    status: text<PaymentStatus>(),
    /** While reverted, the status to restore when the transfer comes back. */
    statusWhenBack: text<"confirming" | "review">().nullable(),
    // Copied from the transfer, so that payments that reach their confirmations are found without a join.
    blockHeight: integer(),
    blockHash: text(),
    blockTime: time(),
    requiredConfirmations: integer(),
    /** The tip height at which it has the required confirmations. */
    confirmsAtHeight: integer(),
    /** The amount of its refund that is requested and not sent yet, in the token's smallest unit. */
    refundRequested: amount(),
    /** The sum of its refunds that are sent or confirmed. */
    refunded: amount(),
    version: integer(),
    createdAt: time(),
    confirmedAt: time().nullable(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      {
        name: "payments_transfer",
        // For each transfer and invoice, one payment that is not rejected and any number of rejected ones.
        columns: ["transferId", "invoiceId", "(case when status = 'rejected' then id else '' end)"],
        unique: true,
      },
      { name: "payments_organization", columns: ["organizationId", "id"] },
      { name: "payments_facet", columns: ["organizationId", paymentFacet, "id"] },
      {
        name: "payments_block_time",
        columns: ["organizationId", paymentFacet, "blockTime", "id"],
      },
      { name: "payments_amount", columns: ["organizationId", paymentFacet, "amount", "id"] },
      { name: "payments_platform_facet", columns: [paymentFacet, "id"] },
      { name: "payments_invoice", columns: ["invoiceId", "id"] },
      {
        name: "payments_confirmed",
        columns: ["organizationId", "blockTime"],
        where: "status = 'confirmed'",
      },
      {
        name: "payments_confirming",
        columns: ["network", "confirmsAtHeight", "id"],
        where: "status = 'confirming'",
      },
    ],
  },
);

/**
 * People's decisions about transfers and their payments. Entries are never changed, so that a wrong decision stays
 * visible beside the one that corrected it.
 */
export const transferDecisions = table(
  "transfer_decisions",
  {
    id: text<Id<"decision">>(),
    organizationId: text<Id<"organization">>(),
    transferId: text<Id<"transfer">>(),
    decision: text<TransferDecision>(),
    /** Null if the decision is about the transfer as a whole. */
    paymentId: text<Id<"payment">>().nullable(),
    invoiceId: text<Id<"invoice">>().nullable(),
    /** The part of the transfer that was decided on, in the token's smallest unit. */
    amount: amount(),
    actorType: text<Actor["type"]>(),
    actorId: text().nullable(),
    actorLabel: text(),
    createdAt: time(),
  },
  {
    primaryKey: ["id"],
    indexes: [{ name: "transfer_decisions_transfer", columns: ["transferId", "id"] }],
  },
);

/** Hash claims: hashes of transactions with which payers claim to have paid. A claim only triggers a search. */
export const paymentClaims = table(
  "payment_claims",
  {
    id: text<Id<"claim">>(),
    organizationId: text<Id<"organization">>(),
    invoiceId: text<Id<"invoice">>(),
    network: text(),
    /** 64 lower-case hex digits. */
    transactionHash: text(),
    state: text<ClaimState>(),
    /** Shown to operators only, as it may reveal other invoices. Null or `unknown` while the claim waits. */
    reason: text<ClaimReason>().nullable(),
    attempts: integer(),
    /** Whether a provider had the transaction. Until then it may be made up, and is looked up from strangers' share. */
    isKnown: flag(),
    /** While the claim waits: the time of the next attempt. */
    nextAt: time(),
    /** When a payer last submitted it. */
    createdAt: time(),
    closedAt: time().nullable(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      { name: "payment_claims_hash", columns: ["invoiceId", "transactionHash"], unique: true },
      { name: "payment_claims_organization", columns: ["organizationId", "id"] },
      {
        name: "payment_claims_due",
        columns: ["network", "nextAt", "id"],
        where: "state = 'waiting'",
      },
      {
        name: "payment_claims_known",
        columns: ["network", "nextAt", "id"],
        where: "state = 'waiting' AND is_known = 1",
      },
      {
        name: "payment_claims_unknown",
        columns: ["network", "organizationId", "attempts", "nextAt", "id"],
        where: "state = 'waiting' AND is_known = 0",
      },
      {
        name: "payment_claims_looked_up",
        columns: ["network", "organizationId", "createdAt", "id"],
        where: "state = 'waiting' AND is_known = 0 AND attempts > 0",
      },
      {
        name: "payment_claims_stale",
        columns: ["createdAt"],
        where: "state = 'waiting' AND is_known = 0",
      },
      {
        name: "payment_claims_refused",
        columns: ["closedAt"],
        where: "state = 'refused'",
      },
    ],
  },
);

export type DecisionRow = RowOf<typeof transferDecisions>;
export type ClaimRow = RowOf<typeof paymentClaims>;
export type TransferRow = RowOf<typeof transfers>;
export type PaymentRow = RowOf<typeof payments>;
