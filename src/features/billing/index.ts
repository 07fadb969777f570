export { makeBillingReader, type BillingReader } from "./invoices/service.ts";
export { makeBalanceService, type BalanceService } from "./balances/service.ts";
export { makeBalances, type Balances } from "./balances/balances.ts";
export { makeReceiveWalletService, type ReceiveWalletService } from "./invoices/receive-wallet.ts";
export { SubscriptionRecord } from "./records.ts";
export { countStarted, requireSubscription, makeUsageWatch } from "./subscriptions/issuing-gate.ts";
export { makeFirstInvoices } from "./invoices/first-invoice.ts";
export { makeIssuer } from "./invoices/issuer.ts";
export { planInUse } from "./subscriptions/current-plan.ts";
export { presentSubscription, type SubscriptionView } from "./present.ts";
export { billingWorkerName, makeBillingRun, type BillingRun } from "./lifecycle/worker.ts";
export { makePaymentApplication, type InvoicePaid } from "./lifecycle/apply-payment.ts";
export { makeSubscriptionService, type SubscriptionService } from "./subscriptions/service.ts";
export { subscriptionsOf } from "./subscriptions/views.ts";
export { makeBillingAnnouncer } from "./announce.ts";
export { makeSubscriptionSteps, type SubscriptionSteps } from "./lifecycle/subscription-steps.ts";
export { makeCollectionInvoices } from "./invoices/collection-invoice.ts";
export { makeCancellations } from "./lifecycle/cancel.ts";
export { makeCreditSurplus } from "./balances/surplus.ts";
export { makeVoiding } from "./invoices/void.ts";
export { platformRevenue, recurringRevenue } from "./operator/revenue.ts";
export { billingChecks } from "./checks.ts";
export { makeBillingOperator, type BillingOperator } from "./operator/service.ts";
export { paymentHabits, type PaymentHabit } from "./rehearsal/payers.ts";
export { subscriptionStatuses } from "./status.ts";
export {
  rehearsalEnd,
  rehearsalMonthsMax,
  rehearse,
  type RehearsalPlan,
} from "./rehearsal/rehearsal.ts";
export {
  countLive,
  rehearsedEvents,
  rehearsedFailures,
  rehearsedInvoices,
  type RehearsedEvent,
  type RehearsedFailure,
  type RehearsedInvoice,
} from "./rehearsal/report.ts";
export { makeMonthlySums, type MonthlySum } from "./rehearsal/sums.ts";
