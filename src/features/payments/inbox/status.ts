/**
 * The disposition of a transfer: `matched` is completely allocated; `unmatched` is not; `ignored` is not, and is left out
 * of the inbox. Payments in review are not allocated amounts.
 */
export type Disposition = "unmatched" | "matched" | "ignored";

/** The transfer statuses that the merchant sees: the dispositions, and `reverted` for a transfer off the chain. */
export const transferStatuses = ["unmatched", "matched", "ignored", "reverted"] as const;
export type TransferStanding = (typeof transferStatuses)[number];

/** The kinds of decisions about a transfer or its payments. */
export const transferDecisionKinds = [
  "allocated",
  "accepted",
  "rejected",
  "reversed",
  "ignored",
  "restored",
] as const;
export type TransferDecision = (typeof transferDecisionKinds)[number];
