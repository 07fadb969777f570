import {
  billingWorkerName,
  makeBillingRun,
  type BillingRun,
} from "../../features/billing/lifecycle/worker.ts";
import {
  countStarted,
  makeUsageWatch,
  requireSubscription,
} from "../../features/billing/subscriptions/issuing-gate.ts";
import {
  makeBillingOperator,
  type BillingOperator,
} from "../../features/billing/operator/service.ts";
import { makeBillingReader, type BillingReader } from "../../features/billing/invoices/service.ts";
import { makeIssuer } from "../../features/billing/invoices/issuer.ts";
import { makeBalances, type Balances } from "../../features/billing/balances/balances.ts";
import {
  makeBalanceService,
  type BalanceService,
} from "../../features/billing/balances/service.ts";
import {
  makeReceiveWalletService,
  type ReceiveWalletService,
} from "../../features/billing/invoices/receive-wallet.ts";
import { makePaymentApplication } from "../../features/billing/lifecycle/apply-payment.ts";
import {
  makeSubscriptionService,
  type SubscriptionService,
} from "../../features/billing/subscriptions/service.ts";
import { makeBillingAnnouncer } from "../../features/billing/announce.ts";
import {
  makeSubscriptionSteps,
  type SubscriptionSteps,
} from "../../features/billing/lifecycle/subscription-steps.ts";
import { makeCancellations } from "../../features/billing/lifecycle/cancel.ts";
import { makeFirstInvoices } from "../../features/billing/invoices/first-invoice.ts";
import { makeCreditSurplus } from "../../features/billing/balances/surplus.ts";
import { makeVoiding } from "../../features/billing/invoices/void.ts";
import { makeCollectionInvoices } from "../../features/billing/invoices/collection-invoice.ts";
import { planInUse } from "../../features/billing/subscriptions/current-plan.ts";
import { unlimited } from "../../features/invoices/issuing/plan.ts";
import type { Journal } from "../../platform/journal/index.ts";
import type { Subscriber } from "../../platform/events/relay.ts";
import type { BillingPorts } from "./billing-ports.ts";
import type { PaymentServices } from "./payment-services.ts";
import { checkoutUrlOf, type Dependencies } from "../dependencies.ts";

/** Subscriptions, plans and platform invoices. */
export interface Billing {
  readonly billingReader: BillingReader;
  readonly billingOperator: BillingOperator;
  readonly billingRun: BillingRun;
  readonly balances: Balances;
  readonly balanceService: BalanceService;
  readonly receiveWallet: ReceiveWalletService;
  readonly subscriptions: SubscriptionService;
  readonly steps: SubscriptionSteps;
  /** Receives every event and announces usage close to a plan's limits. */
  readonly usageWatch: Subscriber;
}

export function makeBilling(
  {
    config,
    networks: { enabled: networks },
    db,
    clock,
    ids,
    logger,
    baseUrl,
    wakeUps,
  }: Dependencies,
  journal: Journal,
  { payments, wallets, managed }: Pick<PaymentServices, "payments" | "wallets" | "managed">,
  ports: BillingPorts,
): Billing {
  const checkoutUrl = checkoutUrlOf(baseUrl);
  const wake = () => {
    wakeUps.wake(billingWorkerName);
  };
  const common = { db, clock, ids, catalog: config.plans, networks, managed, payments };
  const balances = makeBalances({ ids, journal });
  const billingReader = makeBillingReader({ ...common, checkoutUrl });
  const announcer = makeBillingAnnouncer({
    journal,
    views: (reader, rows) => billingReader.views(reader, rows),
    checkoutUrl,
  });
  const collectionInvoices = makeCollectionInvoices(common);
  const creditSurplus = makeCreditSurplus({ payments, balances });
  const voidInvoice = makeVoiding({ balances, collectionInvoices, announcer, creditSurplus });
  const cancellations = makeCancellations({ announcer, voidInvoice });
  const tools = { ...common, balances, announcer, collectionInvoices, checkoutUrl, wake };
  const issuer = makeIssuer(tools);
  const firstInvoices = makeFirstInvoices({ balances, issuer, voidInvoice });
  const steps = makeSubscriptionSteps({ ...tools, issuer, cancellations, firstInvoices });

  ports.invoicePaid = makePaymentApplication({ ...tools, creditSurplus, steps });
  ports.countStarted = countStarted;
  ports.planOf = (organizationId) => planInUse(db, organizationId);
  ports.requireSubscription = (reader, organizationId) =>
    config.billing === "on"
      ? requireSubscription(reader, clock, organizationId)
      : Promise.resolve(unlimited);

  const billingRun = makeBillingRun({ ...common, logger, steps });
  return {
    billingReader,
    billingRun,
    steps,
    billingOperator: makeBillingOperator({ ...common, issuer, billingRun, cancellations, wake }),
    balances,
    balanceService: makeBalanceService({ ...common, balances }),
    receiveWallet: makeReceiveWalletService({ db, clock, journal, wallets, networks }),
    subscriptions: makeSubscriptionService({ ...tools, issuer, firstInvoices }),
    usageWatch: makeUsageWatch({ clock, announcer }),
  };
}
