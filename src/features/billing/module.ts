import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { balanceOperations } from "./balances/operations.ts";
import type { BalanceService } from "./balances/service.ts";
import { billingChecks } from "./checks.ts";
import { billingOperations } from "./invoices/operations.ts";
import type { ReceiveWalletService } from "./invoices/receive-wallet.ts";
import type { BillingReader } from "./invoices/service.ts";
import type { BillingRun } from "./lifecycle/worker.ts";
import { adminBillingOperations, receiveWalletOperations } from "./operator/operations.ts";
import { subscriptionOperations } from "./subscriptions/operations.ts";
import type { SubscriptionService } from "./subscriptions/service.ts";

export const billingModule: FeatureModule<{
  readonly subscriptions: SubscriptionService;
  readonly billingReader: BillingReader;
  readonly balanceService: BalanceService;
  readonly receiveWallet: ReceiveWalletService;
  readonly billingRun: BillingRun;
}> = {
  operations: {
    subscriptions: subscriptionOperations,
    balanceService: balanceOperations,
    receiveWallet: receiveWalletOperations,
    billingReader: [...billingOperations, ...adminBillingOperations],
  },
  checks: billingChecks,
  workers: ({ billingRun }) => [billingRun],
};
