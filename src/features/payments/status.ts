/**
 * `review` and `rejected` are the merchant's to decide and decided; `reverted` is off the chain. Only `confirming` and
 * `confirmed` count as money.
 */
export const paymentStatuses = [
  "confirming",
  "confirmed",
  "reverted",
  "review",
  "rejected",
] as const;
export type PaymentStatus = (typeof paymentStatuses)[number];

/** Who brought a payment about: the watcher, a payer who gave the transaction's hash, or the merchant. */
export const paymentSources = ["detected", "submitted", "operator"] as const;
export type PaymentSource = (typeof paymentSources)[number];

/**
 * Why a transfer is an invoice's: a rule of matching; the hash that a payer submitted, once the merchant has accepted
 * it; or the merchant's allocation.
 */
export const matchRules = [
  "exclusive_address",
  "exact_amount",
  "within_tolerance",
  "submitted_hash",
  "manual",
] as const;
export type MatchRule = (typeof matchRules)[number];
