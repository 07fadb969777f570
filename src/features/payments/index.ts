export { makeWatchWorkers, watchWorkerName } from "./jobs.ts";
export { paymentOperations } from "./operations.ts";
export { presentPayment, type PaymentView } from "./present.ts";
export { PaymentRecord } from "./records.ts";
export { makePaymentService, type PaymentService } from "./service.ts";
export { paymentStatuses } from "./status.ts";
export type { PlatformPaymentFilters } from "./store.ts";
export { makeWatcher, type Watcher } from "./watcher.ts";
export { makeSandboxDesk, type SandboxDesk } from "./sandbox-desk.ts";
