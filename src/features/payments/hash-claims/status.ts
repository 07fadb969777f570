/**
 * `waiting` claims are retried; `credited`: the matching rules assigned a transfer to the invoice; `review`: a payment
 * waits for the merchant; `refused`: no transfer of the transaction is for the invoice.
 */
export const claimStates = ["waiting", "credited", "review", "refused"] as const;
export type ClaimState = (typeof claimStates)[number];

/** Why a claim was refused or, while it waits, its preliminary reason. */
export type ClaimReason =
  /** No provider knows the transaction. */
  | "unknown"
  /** No provider knew the transaction, and the claim was dropped in favor of a newer one. */
  | "displaced"
  /** The invoice's hold ended before a block included the transaction. */
  | "hold_ended"
  | "failed_transaction"
  | "other_address"
  | "other_token"
  /** The token is disabled: its contract does not report the configured decimals. */
  | "token_disabled"
  | "dust"
  /** The address sent the transfer to itself. */
  | "own_transfer"
  | "before_invoice"
  | "after_hold"
  /** The transfer belongs to another invoice or merchant, or exactly matches another invoice's hold. */
  | "taken"
  /** The merchant has already rejected the transfer for this invoice. */
  | "rejected";

/** The results of a hash claim as its payer sees them. None reveals anything about other invoices. */
export const claimResults = [
  /** The search goes on. */
  "looking",
  /** No provider knows the transaction so far. */
  "unknown",
  /** The transaction was never found. */
  "given_up",
  /** The transaction was not found, and the claim was dropped in favor of a newer one. */
  "displaced",
  "counted",
  /** The merchant has to decide. */
  "in_review",
  /** A reorganization removed the transaction, which may return. */
  "reverted",
  /** The transaction failed on the chain: it moved no money. */
  "failed",
  "other_address",
  "other_token",
  "token_disabled",
  "too_small",
  /** The transaction is older than the invoice. */
  "too_early",
  /** The transaction, or its submission, came after the end of the invoice's hold. */
  "too_late",
  "not_for_this",
] as const;
export type ClaimResult = (typeof claimResults)[number];

/** The payer's result for each reason of a refusal. `taken` and `rejected` are one, so that `taken` cannot be inferred. */
export const refusalResults: Readonly<Record<ClaimReason, ClaimResult>> = {
  unknown: "given_up",
  displaced: "displaced",
  hold_ended: "too_late",
  failed_transaction: "failed",
  other_address: "other_address",
  other_token: "other_token",
  token_disabled: "token_disabled",
  dust: "too_small",
  own_transfer: "not_for_this",
  before_invoice: "too_early",
  after_hold: "too_late",
  taken: "not_for_this",
  rejected: "not_for_this",
};
