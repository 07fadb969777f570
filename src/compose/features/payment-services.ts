import { makeAnalyticsService, type AnalyticsService } from "../../features/analytics/index.ts";
import {
  makeCheckoutService,
  makeCheckoutSources,
  type CheckoutService,
} from "../../features/checkout/index.ts";
import { customersAmong } from "../../features/customers/index.ts";
import {
  chooseOption,
  claimableNetworks,
  claimableTerms,
  findInvoice,
  makeCapacityService,
  makeCapacityWatch,
  makeInvoiceBatchService,
  makeInvoiceService,
  makeManagedInvoices,
  makeSettlement,
  matchHolds,
  oldestHold,
  watchedAddresses,
  watchedAmong,
  watchedSince,
  type CapacityService,
  type InvoiceBatchService,
  type InvoiceService,
  type IssuingDecision,
  type ManagedInvoices,
} from "../../features/invoices/index.ts";
import { keepIssuing, lateReviewers, requireVerified } from "../../features/organizations/index.ts";
import {
  makeBlockTimes,
  makeChainService,
  makeClaimExaminer,
  makeHashClaims,
  makeMonitor,
  makePaymentDecisions,
  makePaymentService,
  makeSandboxService,
  makeTransferAllocation,
  makeTransferService,
  invoicesOfTransaction,
  makeScanner,
  makeWatcher,
  makeProviderCrossCheck,
  watchWorkerName,
  type ChainService,
  makeRefundLedger,
  type Examiner,
  type Monitor,
  type PaymentDecisions,
  type PaymentService,
  type SandboxService,
  type TransferAllocation,
  type Watcher,
} from "../../features/payments/index.ts";
import {
  makePayerRefunds,
  makeRefundExaminer,
  makeRefundRequests,
  makeRefundService,
  type RefundService,
} from "../../features/refunds/index.ts";
import { createQuotes, makeRatesService, type RatesService } from "../../features/rates/index.ts";
import { makeUsageService, type UsageService } from "../../features/usage/index.ts";
import { makeWalletService, type WalletService } from "../../features/wallets/index.ts";
import { second } from "../../kernel/clock.ts";
import type { Journal } from "../../platform/journal/index.ts";
import type { ProviderPool } from "../../platform/chain/providers/pool.ts";
import { createRecentStates } from "../../platform/chain/state/network-state.ts";
import type { Subscriber } from "../../platform/events/relay.ts";
import type { Id } from "../../kernel/id.ts";
import type { Reader } from "../../platform/database/index.ts";
import type { BillingPorts } from "./billing-ports.ts";
import { accessTo, sandboxOf } from "./chains.ts";
import {
  makePaymentLinkService,
  type PaymentLinkService,
} from "../../features/payment-links/index.ts";
import {
  makeReceiptKeys,
  makeReceiptService,
  type ReceiptService,
} from "../../features/receipts/index.ts";
import { makeCheckoutSandbox } from "./checkout.ts";
import type { Dependencies } from "../dependencies.ts";

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
  const { config, db, clock, ids, randomBytes, logger, baseUrl } = parts;
  const enabled = new Map(config.networks.map((network) => [network.id, network]));
  // Records may name disabled networks; an enabled network's settings take precedence over the table.
  const known = new Map([
    ...config.knownNetworks.map((network) => [network.id, network] as const),
    ...enabled,
  ]);
  const common = { db, clock, ids, journal };
  const withMoney = { ...common, randomBytes, networks: enabled, baseUrl };

  const wallets = makeWalletService({ ...common, networks: enabled });
  const issuing = {
    ...withMoney,
    recentState: createRecentStates(clock, second),
    quotes: createQuotes({ plan: config.rates, clock, ageMaxMs: second }),
  };
  const managed = makeManagedInvoices(issuing);
  const gated = {
    ...issuing,
    async issuingGate(
      reader: Reader,
      organizationId: Id<"organization">,
    ): Promise<IssuingDecision> {
      await requireVerified(reader, organizationId, config.verification);
      const decision = await billing.requireSubscription(reader, organizationId);
      return {
        ...decision,
        async grant(tx, at, count) {
          await keepIssuing(tx, organizationId, config.verification);
          return decision.grant(tx, at, count);
        },
      };
    },
    customersAmong,
  };
  const invoices = makeInvoiceService({ ...gated, invoicesOfTransaction });
  const invoiceBatches = makeInvoiceBatchService(gated);
  const settlement = makeSettlement({
    ...withMoney,
    networks: known,
    invoicePaid: (tx, rows, at) => billing.invoicePaid(tx, rows, at),
  });
  const payments = makePaymentService({ db, networks: known });
  const ledger = {
    ...common,
    invoices: { ...settlement, matchHolds, watchedAddresses, watchedAmong, lateReviewers },
    refunds: makeRefundRequests({ journal, networks: known }),
  };
  const refundLedger = makeRefundLedger({ ...ledger, networks: known });
  const wake = (network: string) => {
    parts.wakeUps.wake(watchWorkerName(network));
  };
  const watched = makeWatched(parts, ledger, wake, { payments: refundLedger, networks: known });
  // The worker that takes over the claims of networks that nobody reads.
  const [examining] = watched;
  const wakeExaminer = (network: string) => {
    const isRead = watched.some((each) => each.network === network);
    wake(isRead ? network : (examining?.network ?? network));
  };
  const chains = makeChainService({
    db,
    clock,
    journal,
    networks: config.networks,
    access: watched,
  });
  const deciding = { ...ledger, networks: known, wake };
  const decisions = makePaymentDecisions(deciding);
  const refunding = { ...common, networks: known, payments: refundLedger, wake };
  const capacity = makeCapacityService({ db, clock, networks: known, enabled: config.networks });
  const capacityWatch = makeCapacityWatch({ clock, journal, networks: known });
  const transfers = makeTransferAllocation({
    ...deciding,
    transfers: makeTransferService({ db, networks: known }),
    hasInvoice: async (reader, organizationId, invoiceId) =>
      (await findInvoice(reader, organizationId, invoiceId)) !== null,
  });

  const rates = makeRatesService({
    db,
    clock,
    logger,
    journal,
    fetch,
    stopping: parts.stopping,
    plan: config.rates,
  });

  const sandbox = makeSandbox(parts, journal);
  const checkout = makeCheckoutService({
    db,
    clock,
    networks: known,
    enabled: new Set(enabled.keys()),
    baseUrl,
    sources: makeCheckoutSources({ db, baseUrl }),
    claims: makeHashClaims({ ...common, invoices: settlement, wake: wakeExaminer }),
    refunds: makePayerRefunds(refunding),
    choose: (tx, checkoutId, chosen, at) => chooseOption(tx, issuing, checkoutId, chosen, at),
    sandbox: sandbox === null ? null : makeCheckoutSandbox({ db, invoices, sandbox }),
  });
  const paymentLinks = makePaymentLinkService({ ...common, baseUrl, networks: known, invoices });
  const receipts = makeReceiptService({
    clock,
    checkout,
    networks: known,
    baseUrl,
    keys: makeReceiptKeys({ db, clock, journal, secret: parts.secret }),
  });
  const analytics = makeAnalyticsService({ db, clock, networks: known });
  const usage = makeUsageService({
    clock,
    count: analytics.countUsage,
    planOf: (organizationId) => billing.planOf(organizationId),
  });
  return {
    wallets,
    invoices,
    invoiceBatches,
    managed,
    settlement,
    payments,
    decisions,
    transfers,
    refunds: makeRefundService(refunding),
    capacity,
    capacityWatch,
    checkout,
    paymentLinks,
    receipts,
    watchers: watched.map(({ watcher }) => watcher),
    examiners: watched.flatMap(({ examiners }) => examiners),
    monitors: new Map(watched.map(({ network, monitor }) => [network, monitor])),
    chains,
    pools: new Map(watched.map(({ network, pool }) => [network, pool])),
    analytics,
    usage,
    rates,
    sandbox,
  };
}

type Ledger = Omit<Parameters<typeof makeScanner>[0], "network" | "pool" | "times">;

/** Makes the readers of every enabled network that has providers. */
function makeWatched(
  parts: Dependencies,
  ledger: Ledger,
  wake: (network: string) => void,
  refunding: Pick<Parameters<typeof makeRefundExaminer>[0], "payments" | "networks">,
) {
  const { config, clock, logger } = parts;
  const read = config.networks.flatMap((network) => {
    const access = accessTo(network, parts);
    return access === null ? [] : [{ network, access }];
  });
  const examined = new Set(read.map(({ network }) => network.id));
  const claiming = { claimableTerms, claimableNetworks, wake, examined };
  const unread = [...refunding.networks.keys()].filter((id) => !examined.has(id));
  return read.map(({ network, access }, place) => {
    const { providers, client } = access.pool;
    const times = makeBlockTimes({ clock, providers, ...access });
    const reading = { ...ledger, ...access, logger, network, client, providers, times };
    const scanner = makeScanner(reading);
    const crossCheck = makeProviderCrossCheck({
      ...reading,
      scanner,
      invoices: { watchedSince, oldestHold },
    });
    return {
      ...access,
      network: network.id,
      scanner,
      watcher: makeWatcher(reading),
      examiners: [
        makeClaimExaminer({ ...reading, ...claiming, unread: place === 0 ? unread : [] }),
        makeRefundExaminer({ ...reading, ...refunding }),
      ],
      monitor: makeMonitor({ ...reading, crossCheck }),
    };
  });
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
