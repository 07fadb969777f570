export { makeTransferDesk, type TransferDesk } from "./allocation.ts";
export { makeBlockTimes } from "./block-times.ts";
export { makeChainService, type ChainService } from "./chain-service.ts";
export { paymentChecks } from "./checks.ts";
export { makeClaimExaminer, type ClaimExaminer } from "./claim-examiner.ts";
export {
  makeHashClaims,
  submittedTransactions,
  type ClaimResult,
  type HashClaims,
  type SubmittedTransaction,
} from "./claims.ts";
export { makePaymentDecisions, type PaymentDecisions } from "./decisions.ts";
export { TooManyClaims } from "./errors.ts";
export { makeWatchWorkers, watchWorkerName } from "./jobs.ts";
export { makeMonitor, type Monitor } from "./monitor.ts";
export { decisionOperations, paymentOperations } from "./operations.ts";
export { presentPayment, type PaymentView } from "./present.ts";
export { platformPaymentQuery, PaymentRecord, readPaymentQuery } from "./records.ts";
export { makePaymentService, type PaymentService } from "./service.ts";
export type { PaymentFilters } from "./filters.ts";
export { invoicesOfTransaction } from "./listing.ts";
export { makeScanner } from "./scanner.ts";
export { transferOperations } from "./transfer-operations.ts";
export { countUnmatched } from "./transfer-store.ts";
export { makeTransferService } from "./transfers.ts";
export { makeWatcher, type Watcher } from "./watcher.ts";
export { makeWitness } from "./witness.ts";
export { makeSandboxDesk, type SandboxDesk } from "./sandbox-desk.ts";
