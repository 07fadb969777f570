/**
 * `review` waits for the merchant's decision, which may be `rejected`; `reverted` is off the chain. Only payments that
 * are `confirming` or `confirmed` count.
 */
export const paymentStatuses = [
  "confirming",
  "confirmed",
  "reverted",
  "review",
  "rejected",
] as const;
export type PaymentStatus = (typeof paymentStatuses)[number];

/** The origin of a payment: the watcher, a payer who submitted the transaction's hash, or the merchant. */
export const paymentSources = ["detected", "submitted", "operator"] as const;
export type PaymentSource = (typeof paymentSources)[number];

/**
 * Why a transfer is assigned to an invoice: a matching rule; a hash that a payer submitted, if the merchant accepts it;
 * or the merchant's allocation.
 */
export const matchRules = [
  "exclusive_address",
  "exact_amount",
  "within_tolerance",
  "submitted_hash",
  "manual",
] as const;
export type MatchRule = (typeof matchRules)[number];
