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
