import { defineProblem } from "../../kernel/errors.ts";

export const PaymentNotInReview = defineProblem({
  code: "payment_not_in_review",
  status: 409,
  title: "The payment is not in review",
  remedy: "Read the payment: somebody has decided it already, or it was never in review.",
});
export const TransferAllocated = defineProblem({
  code: "transfer_allocated",
  status: 409,
  title: "The transfer is already allocated",
  remedy: "Reverse the payment that uses the transfer first.",
});
export const TooManyClaims = defineProblem({
  code: "too_many_claims",
  status: 409,
  title: "Too many submitted transactions are still open",
  remedy: "Wait until the submitted transactions were looked up, then submit the next one.",
});
export const PaymentNotCounted = defineProblem({
  code: "payment_not_counted",
  status: 409,
  title: "The payment does not count, so there is nothing to reverse",
  remedy:
    "Read the payment's `status`: only one that counts can be reversed. Reject one that is in review.",
});
export const PaymentRefunded = defineProblem({
  code: "payment_refunded",
  status: 409,
  title: "A refund depends on the payment",
  remedy: "Reverse the payment that `detail` names first: a part of it was refunded.",
});
export const AllocationTooLarge = defineProblem({
  code: "allocation_too_large",
  status: 409,
  title: "The allocation exceeds the unallocated amount",
  remedy: "Read the transfer: `unallocatedAmount` is the most that can be allocated.",
});
export const TransferReverted = defineProblem({
  code: "transfer_reverted",
  status: 409,
  title: "The transfer is no longer on its chain",
  remedy: "Wait until the transfer is in a block again: a reorganization has removed it.",
});
export const TransferNotCreditable = defineProblem({
  code: "transfer_not_creditable",
  status: 409,
  title: "The transfer cannot be credited",
  remedy:
    "Nothing can be done with this transfer: it is dust, or its token is not what it claims. `detail` says which.",
});
export const InvoiceNotPayable = defineProblem({
  code: "invoice_not_payable",
  status: 409,
  title: "The invoice was not issued",
  remedy: "Issue the draft first, by `updateInvoice` with the status `open`.",
});
export const TokenMismatch = defineProblem({
  code: "token_mismatch",
  status: 422,
  title: "The invoice asks for another token",
  remedy:
    "Allocate the transfer to an invoice in the same token on the same network, or refund the payer.",
});
export const NetworkNotReached = defineProblem({
  code: "network_not_reached",
  status: 409,
  title: "The network has not been reached yet",
});
export const NotScanned = defineProblem({
  code: "not_scanned",
  status: 422,
  title: "The range is not within the blocks that were read",
});
export const ScanInterrupted = defineProblem({
  code: "scan_interrupted",
  status: 503,
  title: "The range could not be read in one go",
});
export const ProviderUnusable = defineProblem({
  code: "provider_unusable",
  status: 503,
  title: "No provider of the network can be used",
});
export const BlocksUnread = defineProblem({
  code: "blocks_unread",
  status: 500,
  title: "Blocks were not read",
});
export const AlarmNotAcknowledged = defineProblem({
  code: "alarm_not_acknowledged",
  status: 409,
  title: "There is no alarm to acknowledge",
});
export const GapNotAccepted = defineProblem({
  code: "gap_not_accepted",
  status: 409,
  title: "The range cannot be accepted as unread",
});
export const HeldNotConfirmed = defineProblem({
  code: "held_not_confirmed",
  status: 409,
  title: "The payment, transfer or refund cannot be confirmed by an operator",
});
