/**
 * The disposition of a transfer: `matched` is completely allocated; `unmatched` is not; `ignored` is not, and is left out
 * of the inbox. Payments in review are not allocated amounts.
 */
export type Disposition = "unmatched" | "matched" | "ignored";

/**
 * Why a transfer that fits an invoice was not credited, in words for people. All that names the reasons is derived from
 * here.
 */
export const waitingReasonWords = {
  own_wallet:
    "sent from one of the organization's own wallets, so it is not a payment of a customer",
  ambiguous_amount: "two invoices asked for this amount, one of them earlier",
  reused_address:
    "an invoice has the address that an earlier one had, and the amount does not say which of them it is for",
  entered_amount:
    "a payer entered the price of the invoice that asks for this amount, so that it proves little",
  fee_kept:
    "an invoice asks for this amount and another for a little more, from which an exchange may have kept a fee",
  rounded_up:
    "an invoice asks for this amount and another for less than 0.01 less, whose payer may have rounded up",
  order_unknown:
    "its block has a time before the invoice that asks for this amount, and it is not known which of them came first",
  not_asked:
    "an invoice asked for this amount and no longer does, because it is paid in part or in full",
} as const;
export type WaitingReason = keyof typeof waitingReasonWords;
export const waitingReasons = Object.keys(waitingReasonWords) as WaitingReason[];

/** The transfer statuses that the merchant sees: the dispositions, and `reverted` for a transfer off the chain. */
export const transferStatuses = ["unmatched", "matched", "ignored", "reverted"] as const;
export type MerchantTransferStatus = (typeof transferStatuses)[number];

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
