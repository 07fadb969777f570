import { defineProblem } from "../../kernel/errors.ts";

export const NotRefundable = defineProblem({
  code: "not_refundable",
  status: 409,
  title: "There is nothing to refund",
});
export const RefundTooLarge = defineProblem({
  code: "refund_too_large",
  status: 409,
  title: "The refund exceeds the surplus",
});
export const RefundOpen = defineProblem({
  code: "refund_open",
  status: 409,
  title: "A refund of this payment is open",
});
export const RefundAddressRefused = defineProblem({
  code: "refund_address_refused",
  status: 422,
  title: "The address cannot receive a refund",
});
export const RefundNotRequested = defineProblem({
  code: "refund_not_requested",
  status: 409,
  title: "The refund is not waiting to be sent",
});
export const TransactionUsed = defineProblem({
  code: "transaction_used",
  status: 409,
  title: "The transaction belongs to another refund",
});
