/**
 * What became of a transfer's money: `matched` is all of it allocated, `unmatched` some of it not, `ignored` some of it
 * not and nobody is to be asked about it. Money in review is not allocated.
 */
export type Disposition = "unmatched" | "matched" | "ignored";

/** The same as the merchant sees it: `reverted` is off the chain, whatever became of it before. */
export const transferStatuses = ["unmatched", "matched", "ignored", "reverted"] as const;
export type TransferStanding = (typeof transferStatuses)[number];

/** What people decide about a transfer, or about a payment of it. */
export const transferDecisionKinds = [
  "allocated",
  "accepted",
  "rejected",
  "reversed",
  "ignored",
  "restored",
] as const;
export type TransferDecision = (typeof transferDecisionKinds)[number];
