import type { Id } from "../../kernel/id.ts";
import {
  amount,
  integer,
  table,
  text,
  time,
  type RowOf,
} from "../../platform/database/schema/table.ts";
import type { MatchRule } from "../payments/payment-status.ts";
import type { RefundRefusal, RefundSource, RefundStatus } from "./status.ts";

/** Refunds of payments' surplus, which merchants pay from their own wallets. */
export const refunds = table(
  "refunds",
  {
    id: text<Id<"refund">>(),
    organizationId: text<Id<"organization">>(),
    invoiceId: text<Id<"invoice">>(),
    paymentId: text<Id<"payment">>(),
    source: text<RefundSource>(),
    status: text<RefundStatus>(),
    network: text(),
    token: text(),
    tokenDecimals: integer(),
    /** In the token's smallest unit. */
    amount: amount(),
    /** The recipient, in canonical form. */
    address: text(),
    // Copied from the payment's transfer, so that the record shows whom the money came from.
    fromAddress: text(),
    paymentHash: text(),
    /** Why the payment was assigned to the invoice. */
    paymentRule: text<MatchRule>(),
    /** The block of the payment. A transaction in an earlier block cannot be its refund. */
    paymentHeight: integer(),
    /** The transaction that pays it, while it is sent or confirmed: 64 lower-case hex digits. */
    transactionHash: text().nullable(),
    /** The block in which the transaction was last found. */
    blockHeight: integer().nullable(),
    blockHash: text().nullable(),
    refusal: text<RefundRefusal>().nullable(),
    /** The transaction that was refused last. */
    refusedHash: text().nullable(),
    /** The merchant's reason for rejecting it. */
    reason: text().nullable(),
    /** While it is sent: the number of examinations in a row in which no provider had a receipt. */
    attempts: integer(),
    /** The number of them in which every provider answered. */
    denials: integer(),
    /** The number of examinations in which one provider alone had the transaction in the stored final block. */
    heldAttempts: integer(),
    /** While it is sent: the time of the next attempt to prove it. */
    nextAt: time(),
    version: integer(),
    createdAt: time(),
    updatedAt: time(),
    sentAt: time().nullable(),
    confirmedAt: time().nullable(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      { name: "refunds_organization", columns: ["organizationId", "id"] },
      { name: "refunds_status", columns: ["organizationId", "status", "id"] },
      { name: "refunds_invoice", columns: ["invoiceId", "id"] },
      { name: "refunds_payment", columns: ["paymentId", "id"] },
      {
        name: "refunds_open",
        columns: ["paymentId"],
        unique: true,
        where: "status IN ('requested', 'sent')",
      },
      {
        name: "refunds_hash",
        columns: ["organizationId", "network", "transactionHash"],
        unique: true,
        where: "transaction_hash IS NOT NULL",
      },
      { name: "refunds_due", columns: ["network", "nextAt", "id"], where: "status = 'sent'" },
      {
        name: "refunds_confirmed",
        columns: ["network", "blockHeight", "id"],
        where: "status = 'confirmed'",
      },
    ],
  },
);

export type RefundRow = RowOf<typeof refunds>;
