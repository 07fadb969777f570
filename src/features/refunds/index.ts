export { makeRefundRequests } from "./changes.ts";
export {
  NotFromPaymentPage,
  NotRefundable,
  RefundAddressRefused,
  RefundTooEarly,
  TooManyRefundRequests,
} from "./errors.ts";
export { makeRefundExaminer } from "./verification/examiner.ts";
export {
  makePayerRefunds,
  type PayerRefunds,
  type RefundInput,
  type RefundOffer,
  type RequestResult,
} from "./payer/payer-refunds.ts";
export {
  leftToMerchantSql,
  readLeftToMerchant,
  readRefunds,
  refundsSql,
  refundsVersionSql,
  type PayerRefund,
} from "./payer/payer-view.ts";
export { refundAddress, refundHash } from "./records.ts";
export { refundStatuses } from "./status.ts";
export { rejectedRequestsMax } from "./store.ts";
export { makeRefundService, type RefundService } from "./service.ts";
