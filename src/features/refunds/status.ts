/**
 * `requested`: the merchant has not sent it. `sent`: the merchant has named a transaction, which is not proven yet.
 * `confirmed`: the transaction is final and pays the refund. `rejected`: it will not be sent.
 */
export const refundStatuses = ["requested", "sent", "confirmed", "rejected"] as const;
export type RefundStatus = (typeof refundStatuses)[number];

/** A refund is created by a payer on the checkout page, or by the merchant. */
export const refundSources = ["payer", "merchant"] as const;
export type RefundSource = (typeof refundSources)[number];

/** Why the last transaction that was named for a refund does not prove it, or why Till rejected the refund. */
export const refundRefusals = [
  /** No provider knows the transaction. */
  "unknown",
  "failed",
  "other_recipient",
  "other_token",
  /** The tokens came from an address that is not one of the organization's wallets. */
  "other_sender",
  "too_small",
  /** The transaction is older than the payment. */
  "too_early",
  /** A reorganization removed the transaction, and it has not returned. */
  "reverted",
  /** The invoice needs the payment after all, another refund took its money, or a reorganization removed it. */
  "surplus_gone",
] as const;
export type RefundRefusal = (typeof refundRefusals)[number];
