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
