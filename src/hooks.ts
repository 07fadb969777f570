import type { App } from "./app.ts";
import { once } from "./kernel/memo.ts";

const gate = once(() => import("./compose/issuing-gate.ts"));
const platformPayments = once(() => import("./features/billing/lifecycle/apply-payment.ts"));
const subscriptions = once(() => import("./features/billing/subscriptions/issuing-gate.ts"));
const maintenance = once(() => import("./compose/maintenance.ts"));
const payments = once(() => import("./features/payments/payments.ts"));
const refundChanges = once(() => import("./features/refunds/changes.ts"));
const refundExaminer = once(() => import("./features/refunds/verification/examiner.ts"));

/** The calls of lower features to higher ones, each loaded with its first call: a command loads only what it calls. */
export const hooks: App["hooks"] = {
  mayIssue: async (...args) => (await gate()).mayIssue(...args),
  managedChanged: async (...args) => (await platformPayments()).applyPlatformPayments(...args),
  countStarted: async (...args) => (await subscriptions()).countStarted(...args),
  countingPayments: async (...args) => (await payments()).countingPayments(...args),
  invoicesOfTransaction: async (...args) => (await payments()).invoicesOfTransaction(...args),
  withdrawRefunds: async (...args) => (await refundChanges()).withdrawRefunds(...args),
  examineRefunds: async (...args) => (await refundExaminer()).examineRefunds(...args),
  maintenanceTasks: async () => (await maintenance()).maintenanceSchedule,
};
