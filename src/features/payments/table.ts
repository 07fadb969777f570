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
} from "../../platform/database/index.ts";
import type { ClaimReason, ClaimState } from "./claim-status.ts";
import type { MatchRule, PaymentSource, PaymentStatus } from "./status.ts";
import type { Disposition, TransferDecision } from "./transfer-status.ts";

export type TransferStatus = "seen" | "orphaned";

/** Facts of the chains: transfers of configured tokens to addresses that were watched. */
export const transfers = table(
  "transfers",
  {
    id: text<Id<"transfer">>(),
    network: text(),
    /** 64 lower-case hex digits. */
    transactionHash: text(),
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
    /** `orphaned`: a reorganisation took it off the chain. It is kept, and becomes `seen` again where it comes back. */
    status: text<TransferStatus>(),
    /** Its block is one that the network never takes back. */
    isFinal: flag(),
    /** Whose address it went to, or whose invoice it pays; null where the address is registered to nobody. */
    organizationId: text<Id<"organization">>().nullable(),
    /** The invoice that it was matched to, the first of several; null: no invoice's. */
    invoiceId: text<Id<"invoice">>().nullable(),
    /** What became of its money, whether it is on the chain or not. */
    disposition: text<Disposition>(),
    createdAt: time(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      {
        name: "transfers_position",
        columns: ["network", "transactionHash", "logIndex"],
        unique: true,
        where: "status = 'seen'",
      },
      { name: "transfers_transaction", columns: ["transactionHash", "network"] },
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
        name: "transfers_reverted",
        columns: ["organizationId", "id"],
        where: "status = 'orphaned'",
      },
      { name: "transfers_sender", columns: ["fromAddress", "organizationId", "id"] },
    ],
  },
);

/** The columns of a payment that have few values, joined; in SQL, exactly as the indexes have it. */
export const paymentFacet = "(status || ' ' || network || ' ' || token)";

/** Allocations of transfers to invoices. An invoice's paid sum is the sum of its payments. */
export const payments = table(
  "payments",
  {
    id: text<Id<"payment">>(),
    organizationId: text<Id<"organization">>(),
    invoiceId: text<Id<"invoice">>(),
    transferId: text<Id<"transfer">>(),
    /** Of the transfer: 64 lower-case hex digits. */
    transactionHash: text(),
    network: text(),
    token: text(),
    /** Of the transfer, in the token's smallest unit. */
    amount: amount(),
    /** What it adds to the invoice's paid amount, in the smallest unit of the settlement currency. */
    settlementAmount: amount(),
    settlementCurrency: text(),
    settlementDecimals: integer(),
    tokenDecimals: integer(),
    rule: text<MatchRule>(),
    source: text<PaymentSource>(),
    status: text<PaymentStatus>(),
    /** While it is reverted: the status that it takes when its transfer comes back. */
    statusWhenBack: text<"confirming" | "review">().nullable(),
    // Where its transfer stands, so that what confirms is found without a join.
    blockHeight: integer(),
    blockHash: text(),
    blockTime: time(),
    requiredConfirmations: integer(),
    /** The height of the tip from which on it has as many. */
    confirmsAtHeight: integer(),
    version: integer(),
    createdAt: time(),
    confirmedAt: time().nullable(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      {
        name: "payments_transfer",
        // One that counts for each pair, and any number of rejected ones.
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
 * What people decided about transfers and their payments: entries are added and never changed, so that a wrong decision
 * stays to be seen beside the one that took it back.
 */
export const transferDecisions = table(
  "transfer_decisions",
  {
    id: text<Id<"decision">>(),
    organizationId: text<Id<"organization">>(),
    transferId: text<Id<"transfer">>(),
    decision: text<TransferDecision>(),
    /** Null where it is about the transfer as a whole. */
    paymentId: text<Id<"payment">>().nullable(),
    invoiceId: text<Id<"invoice">>().nullable(),
    /** What of the transfer it is about, in the token's smallest unit. */
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

/** Hashes of transactions that payers say they paid with. A claim only makes us look; what it comes to is kept. */
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
    /** For operators alone where it may tell of other invoices. While it waits, null or `unknown`. */
    reason: text<ClaimReason>().nullable(),
    attempts: integer(),
    /** While it waits: when it is looked at next. */
    nextAt: time(),
    /** When a payer submitted it last. */
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
    ],
  },
);

export type DecisionRow = RowOf<typeof transferDecisions>;
export type ClaimRow = RowOf<typeof paymentClaims>;
export type TransferRow = RowOf<typeof transfers>;
export type PaymentRow = RowOf<typeof payments>;
