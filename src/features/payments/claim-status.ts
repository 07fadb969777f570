/**
 * `waiting` is looked at again; `credited`: the ordinary rules gave the money to the invoice; `review`: it waits for
 * the merchant; `refused`: nothing of it is for the invoice.
 */
export const claimStates = ["waiting", "credited", "review", "refused"] as const;
export type ClaimState = (typeof claimStates)[number];

/** Why nothing came of a claim; of one that waits, why nothing came of it so far. */
export type ClaimReason =
  /** No provider knows the transaction. */
  | "unknown"
  /** It was unknown, and made room for a newer one. */
  | "displaced"
  /** Until the invoice's hold had ended, no block had the transaction. */
  | "hold_ended"
  | "failed_transaction"
  | "other_address"
  | "other_token"
  /** The token is switched off: its contract does not count as configured. */
  | "token_disabled"
  | "dust"
  /** The address sent it to itself. */
  | "own_transfer"
  | "before_invoice"
  | "after_hold"
  /** It is another invoice's or another merchant's, or matches another's hold exactly. */
  | "taken"
  /** The merchant has rejected it for this invoice before. */
  | "rejected";
