import type { App } from "../../app.ts";
import type { FeatureModule } from "../../api/declare/feature-module.ts";
import type { ProviderPool } from "../../platform/chain/providers/pool.ts";
import type { TransferAllocation } from "./inbox/allocation.ts";
import type { PaymentDecisions } from "./decisions/decide-payment.ts";
import { inboxMetrics } from "./inbox/metrics.ts";
import { transferOperations } from "./inbox/operations.ts";
import { paymentChecks } from "./ledger/checks.ts";
import { pruneClaims } from "./hash-claims/store.ts";
import type { Invoices } from "./ledger/invoices-port.ts";
import { networkMetrics, providerMetrics } from "./networks/metrics.ts";
import { decisionOperations, paymentOperations } from "./operations.ts";
import type { Monitor } from "./watcher/provider-monitor.ts";
import type { Watcher } from "./watcher/watcher.ts";
import { makeWatchWorkers, type Examiner } from "./worker.ts";

export const paymentsModule: FeatureModule<{
  readonly app: App;
  readonly decisions: PaymentDecisions;
  readonly transfers: TransferAllocation;
  readonly settlement: Pick<Invoices, "sweepDeadlines">;
  readonly watchers: readonly Watcher[];
  readonly examiners: readonly Examiner[];
  readonly monitors: ReadonlyMap<string, Monitor>;
  readonly pools: ReadonlyMap<string, ProviderPool>;
}> = {
  operations: {
    app: paymentOperations,
    decisions: decisionOperations,
    transfers: transferOperations,
  },
  checks: paymentChecks,
  workers: (parts) => makeWatchWorkers({ ...parts, invoices: parts.settlement }),
  prunings: { "prune claims": pruneClaims },
  metrics: (parts) => [networkMetrics(parts), providerMetrics(parts), inboxMetrics(parts)],
};
