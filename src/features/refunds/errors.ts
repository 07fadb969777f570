import { defineProblem } from "../../kernel/errors.ts";

export const NotRefundable = defineProblem({
  code: "not_refundable",
  status: 409,
  title: "There is nothing to refund",
  remedy:
    "Do not repeat the request: the payment has no surplus that was not refunded. `detail` says what takes it.",
});
export const RefundTooEarly = defineProblem({
  code: "refund_too_early",
  status: 409,
  title: "The payment is not certain yet",
  remedy:
    "Wait as long as `Retry-After` says, then send the same request again: `detail` says what is missing. Send no money before.",
});
export const RefundTooLarge = defineProblem({
  code: "refund_too_large",
  status: 409,
  title: "The refund exceeds the surplus",
  remedy: "Refund at most the amount that `detail` names.",
});
export const RefundOpen = defineProblem({
  code: "refund_open",
  status: 409,
  title: "A refund of this payment is open",
  remedy:
    "Send or reject the open refund of the payment first. If it is sent, wait until it is confirmed, which takes minutes.",
});
export const TooManyRefundRequests = defineProblem({
  code: "too_many_refund_requests",
  status: 409,
  title: "The merchant has rejected too many requests for this refund",
  remedy:
    "Do not repeat the request: contact the merchant, who has rejected several and gave a reason for each. The merchant can still create the refund.",
});
export const RefundAddressRefused = defineProblem({
  code: "refund_address_refused",
  status: 422,
  title: "The address cannot receive a refund",
  remedy:
    "Ask the payer for an address of their own wallet: this one is a token contract, the zero address, or the merchant's.",
});
export const NotFromPaymentPage = defineProblem({
  code: "not_from_payment_page",
  status: 403,
  title: "The request does not come from the payment's page",
  remedy:
    "Send the payer to the page at `checkoutUrl`, whose form asks for the refund: only that page has the `pageToken`. The merchant's own programs record refunds with `createRefund`.",
});
export const RefundNotRequested = defineProblem({
  code: "refund_not_requested",
  status: 409,
  title: "The refund is not waiting to be sent",
  remedy:
    "Read the refund: only one with the status `requested`, or one whose transaction is in no block yet, can be changed.",
});
export const TransactionUsed = defineProblem({
  code: "transaction_used",
  status: 409,
  title: "The transaction belongs to another refund",
  remedy:
    "Send the hash of the transaction that pays this refund: each refund needs one of its own.",
});
