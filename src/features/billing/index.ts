export { adminBillingOperations, receiveWalletOperations } from "./admin-operations.ts";
export { makeBillingReader, type BillingReader } from "./invoice-service.ts";
export { ledgerOperations } from "./ledger-operations.ts";
export { makeLedgerService, type LedgerService } from "./ledger-service.ts";
export { makeLedger, type Ledger } from "./ledger.ts";
export { billingOperations } from "./operations.ts";
export { makeReceiveWalletService, type ReceiveWalletService } from "./receive-wallet.ts";
export { SubscriptionRecord } from "./records.ts";
