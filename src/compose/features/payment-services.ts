import { makeOutwardFetch } from "../../platform/outbound/proxy.ts";
import { makeAnalyticsService, type AnalyticsService } from "../../features/analytics/service.ts";
import type { CheckoutService } from "../../features/checkout/service.ts";
import {
  makeCapacityService,
  type CapacityService,
} from "../../features/invoices/capacity/service.ts";
import { makeCapacityWatch } from "../../features/invoices/capacity/watch.ts";
import type { makeSettlement } from "../../features/invoices/settlement/settlement.ts";
import type { InvoiceBatchService } from "../../features/invoices/batches/service.ts";
import type { InvoiceService } from "../../features/invoices/service.ts";
import type { ManagedInvoices } from "../../features/invoices/managed/service.ts";
import type { PaymentLinkService } from "../../features/payment-links/service.ts";
import {
  makeSandboxService,
  type SandboxService,
} from "../../features/payments/sandbox/service.ts";
import { watchWorkerName, type Examiner } from "../../features/payments/worker.ts";
import type { ChainService } from "../../features/payments/networks/service.ts";
import type { Monitor } from "../../features/payments/watcher/provider-monitor.ts";
import type { PaymentDecisions } from "../../features/payments/decisions/decide-payment.ts";
import type { PaymentService } from "../../features/payments/service.ts";
import type { TransferAllocation } from "../../features/payments/inbox/allocation.ts";
import type { Watcher } from "../../features/payments/watcher/watcher.ts";
import { makeRatesService, type RatesService } from "../../features/rates/service.ts";
import type { ReceiptService } from "../../features/receipts/service.ts";
import type { RefundService } from "../../features/refunds/service.ts";
import { makeUsageService, type UsageService } from "../../features/usage/service.ts";
import type { WalletService } from "../../features/wallets/service.ts";
import type { ProviderPool } from "../../platform/chain/providers/pool.ts";
import type { Subscriber } from "../../platform/events/relay.ts";
import type { Journal } from "../../platform/journal/index.ts";
import { type Dependencies } from "../dependencies.ts";
import type { BillingPorts } from "./billing-ports.ts";
import { sandboxOf } from "./chains.ts";
import { makePayerServices } from "./checkout.ts";
import { makeInvoicing } from "./invoicing.ts";
import { makeLedger } from "./ledger.ts";

/** Wallets, invoices, payments and chains. */
export interface PaymentServices {
  readonly wallets: WalletService;
  readonly invoices: InvoiceService;
  readonly invoiceBatches: InvoiceBatchService;
  /** The invoices that billing issues for the platform. */
  readonly managed: ManagedInvoices;
  readonly settlement: ReturnType<typeof makeSettlement>;
  readonly payments: PaymentService;
  readonly decisions: PaymentDecisions;
  readonly transfers: TransferAllocation;
  readonly refunds: RefundService;
  readonly capacity: CapacityService;
  /** Receives every event and notifies organizations whose addresses run out of payment amounts. */
  readonly capacityWatch: Subscriber;
  readonly checkout: CheckoutService;
  readonly paymentLinks: PaymentLinkService;
  readonly receipts: ReceiptService;
  readonly watchers: readonly Watcher[];
  readonly examiners: readonly Examiner[];
  readonly monitors: ReadonlyMap<string, Monitor>;
  readonly chains: ChainService;
  /** The providers of each network that has any. */
  readonly pools: ReadonlyMap<string, ProviderPool>;
  readonly analytics: AnalyticsService;
  readonly usage: UsageService;
  readonly rates: RatesService;
  /** Null if the sandbox is not enabled. */
  readonly sandbox: SandboxService | null;
}

export function makePaymentServices(
  parts: Dependencies,
  journal: Journal,
  billing: BillingPorts,
): PaymentServices {
  const { config, networks, db, clock, logger, stopping } = parts;
  const { known } = networks;
  const { issuing, ...invoicing } = makeInvoicing(parts, journal, networks, billing);
  const { refunding, nudgeExaminer, ...ledger } = makeLedger(
    parts,
    journal,
    networks,
    invoicing.settlement,
  );
  const sandbox = makeSandbox(parts, journal);
  const analytics = makeAnalyticsService({ db, clock, networks: known });
  return {
    ...invoicing,
    ...ledger,
    sandbox,
    ...makePayerServices(parts, journal, networks, {
      ...invoicing,
      issuing,
      refunding,
      nudgeExaminer,
      sandbox,
    }),
    capacity: makeCapacityService({ db, clock, networks: known, enabled: config.networks }),
    capacityWatch: makeCapacityWatch({ clock, journal, networks: known }),
    analytics,
    usage: makeUsageService({
      clock,
      count: analytics.countUsage,
      planOf: (organizationId) => billing.planOf(organizationId),
    }),
    rates: makeRatesService({
      db,
      clock,
      logger,
      journal,
      stopping,
      fetch: makeOutwardFetch(config.proxy),
      plan: config.rates,
    }),
  };
}

function makeSandbox(parts: Dependencies, journal: Journal): SandboxService | null {
  const { db, clock, wakeUps, baseUrl } = parts;
  const simulated = sandboxOf(parts);
  if (simulated === null) return null;
  const { network, sandbox } = simulated;
  const wake = () => {
    wakeUps.wake(watchWorkerName(network.id));
  };
  return makeSandboxService({ db, clock, journal, baseUrl, sandbox, network, wake });
}
