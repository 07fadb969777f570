export { makeTransferAllocation, type TransferAllocation } from "./inbox/allocation.ts";
export { makeBlockTimes } from "./watcher/block-times.ts";
export { makeChainService, type ChainService } from "./networks/service.ts";
export { assertConfirmable, heldAlarm, opinionOf, type Opinion } from "./networks/held.ts";
export { makeClaimExaminer } from "./hash-claims/examiner.ts";
export { makeHashClaims, type HashClaims } from "./hash-claims/submit-claim.ts";
export { claimResults, type ClaimResult } from "./hash-claims/status.ts";
export { makePaymentDecisions, type PaymentDecisions } from "./decisions/decide-payment.ts";
export { HeldNotConfirmed, ProviderUnusable, TooManyClaims } from "./errors.ts";
export { watchWorkerName, type Examiner } from "./worker.ts";
export { makeMonitor, type Monitor } from "./watcher/provider-monitor.ts";
export { presentPayment, type PaymentView } from "./present-payment.ts";
export { platformPaymentQuery, PaymentRecord, readPaymentQuery } from "./records.ts";
export {
  ledgerSql,
  ledgerVersionSql,
  readLedger,
  type PayerLedger,
  type PayerPayment,
  type SubmittedTransaction,
} from "./payer-view.ts";
export {
  makeRefundLedger,
  type RefundablePayment,
  type RefundLedger,
} from "./refunds/refundable.ts";
export type { RefundRequests } from "./ledger/types.ts";
export { readSurpluses } from "./ledger/read-surpluses.ts";
export { compareToRefund, freeSurplus, mayBeRequested } from "./ledger/surplus.ts";
export { isCounted } from "./ledger/payment-rules.ts";
export { paymentsOfInvoice } from "./ledger/store.ts";
export { matchRules, paymentStatuses, type MatchRule } from "./payment-status.ts";
export { makePaymentService, type PaymentService } from "./service.ts";
export { paymentSorts, type PaymentFilters } from "./filters.ts";
export { countingPayments, invoicesOfTransaction } from "./listing.ts";
export { makeRecorder } from "./watcher/recorder.ts";
export { makeScanner } from "./watcher/readings/rescanner.ts";
export { makeWalletReader } from "./watcher/readings/wallet-reading.ts";
export { makeTransferService } from "./inbox/service.ts";
export { makeWatcher, type Watcher } from "./watcher/watcher.ts";
export { makeProviderCrossCheck } from "./watcher/provider-cross-check.ts";
export { makeSandboxService, type SandboxService } from "./sandbox/service.ts";
