import { defineProblem } from "../../kernel/errors.ts";

export const PaymentNotInReview = defineProblem({
  code: "payment_not_in_review",
  status: 409,
  title: "The payment does not wait for a decision",
});
export const TransferAllocated = defineProblem({
  code: "transfer_allocated",
  status: 409,
  title: "The transfer is allocated already",
});
export const TooManyClaims = defineProblem({
  code: "too_many_claims",
  status: 409,
  title: "Too many submitted transactions are still being looked at",
});
export const NetworkNotReached = defineProblem({
  code: "network_not_reached",
  status: 409,
  title: "The network was not reached yet",
});
export const NotScanned = defineProblem({
  code: "not_scanned",
  status: 422,
  title: "The range is not one of blocks that were read",
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
