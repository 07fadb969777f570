export { shareOf, type HoldUse } from "./capacity/rules.ts";
export { makeInvoiceBatchService, type InvoiceBatchService } from "./batches/service.ts";
export { makeCapacityWatch } from "./capacity/watch.ts";
export { makeCapacityService, type CapacityService } from "./capacity/service.ts";
export {
  customersOf,
  invoiceCandidates,
  invoicesAtOwnAddress,
  isWhole,
  type InvoiceCandidate,
} from "./settlement/candidates.ts";
export { issuedLedgers, type LedgerOfInvoice } from "./checks.ts";
export { claimableNetworks, claimableTerms, type ClaimableTerms } from "./holds/claimable.ts";
export { marksAbove } from "./holds/marks.ts";
export { matchHolds, type ChainEvidence, type HoldMatch } from "./holds/matching.ts";
export { doubtRecyclable, endRecycling } from "./holds/own-addresses.ts";
export { receivedBy } from "./managed/received.ts";
export {
  billedOrganization,
  makeManagedInvoices,
  type ManagedInvoices,
} from "./managed/service.ts";
export {
  AmountTooLarge,
  AmountTooSmall,
  InvoiceNotCancelable,
  InvoiceNotOpen,
  LinkLimitReached,
  linkLimitNames,
  type LinkLimitName,
  ManagedByBilling,
  NetworkNotReady,
  NoDefaultWallet,
  NoWallet,
  OptionLimitReached,
  OptionNotOffered,
  PlanLimitReached,
  RateUnavailable,
  SubscriptionRequired,
  SubscriptionSuspended,
  TokenNotEnabled,
  UnsupportedCurrency,
  WalletCapacityExhausted,
} from "./errors.ts";
export { unlimited, type Grant, type IssuingDecision, type IssuingGate } from "./issuing/plan.ts";
export { payableTerms, type LockedTerms, type PayableTerms } from "./settlement/terms-to-pay.ts";
export { storedAside, type Aside } from "./settlement/aside.ts";
export { inReviewOf, owedOf } from "./settlement/owed.ts";
export { putInForce } from "./options/in-force.ts";
export {
  addShare,
  askableRest,
  excessOf,
  noShare,
  quoteFor,
  paidShare,
  quotesOf,
  roundedShare,
  settlementOf,
  tokensOf,
  worthOf,
  type Quote,
  type Share,
} from "./options/quotes.ts";
export { atTip, payerInvoiceColumns, readPayerInvoices, type PayerInvoice } from "./payer-view.ts";
export { presentInvoice, type InvoiceView } from "./present.ts";
export { ConfirmationProgress, CreateInvoiceRequest, InvoiceStatusRecord } from "./records.ts";
export { invoiceStatuses, noPayments, type InvoiceStatus, type PaymentTotals } from "./rules.ts";
export { chooseOption, type ChosenOption } from "./options/choose.ts";
export { makeInvoiceService, type InvoiceService } from "./service.ts";
export { makeSettlement, type CountStarted, type Settlement } from "./settlement/settlement.ts";
export { countUsed, countUsedOf, findInvoice, invoicesById, type InvoiceRow } from "./store.ts";
export { endTime, issuedInvoice } from "./sandbox.ts";
export {
  oldestHold,
  watchedAddresses,
  watchedAmong,
  watchedSince,
} from "./holds/watched-addresses.ts";
