export {
  matchHolds,
  watchedAddresses,
  watchedAmong,
  type HoldMatch,
  type MatchCandidate,
} from "./hold-matching.ts";
export { lateWindowMs } from "./holds.ts";
export { invoiceOperations } from "./operations.ts";
export type { PayableTerms } from "./payable.ts";
export type { PayerInvoice } from "./payer.ts";
export { presentInvoice, type InvoiceView } from "./present.ts";
export { ConfirmationProgress, InvoiceRecord, InvoiceStatusRecord } from "./records.ts";
export {
  invoiceStatuses,
  noPayments,
  settlementOf,
  type InvoiceException,
  type InvoiceStatus,
  type PaymentTotals,
} from "./rules.ts";
export {
  makeInvoiceService,
  type CreatedInvoice,
  type InvoiceDependencies,
  type InvoiceInput,
  type InvoiceService,
} from "./service.ts";
export { makeSettlement, type Settlement, type SettlementDependencies } from "./settlement.ts";
export type { InvoiceRow } from "./store.ts";
export { endTime, issuedInvoice } from "./sandbox.ts";
