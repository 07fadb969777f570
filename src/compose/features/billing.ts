import {
  billingWorkerName,
  makeBillingDesk,
  makeBillingReader,
  makeBillingRun,
  makeIssuer,
  makeLedger,
  makeLedgerService,
  makeReceiveWalletService,
  makeSettle,
  makeSubscriptionService,
  makeTeller,
  makeTransitions,
  makeCancellations,
  makeFirstInvoices,
  makeSettleSurplus,
  makeVoiding,
  makeTwins,
  makeUsageWatch,
  planInUse,
  requireSubscription,
  type BillingDesk,
  type BillingReader,
  type BillingRun,
  type Ledger,
  type LedgerService,
  type ReceiveWalletService,
  type SubscriptionService,
  type Transitions,
} from "../../features/billing/index.ts";
import type { Auditor } from "../../platform/audit/index.ts";
import type { Outbox } from "../../platform/events/index.ts";
import type { Subscriber } from "../../platform/events/relay.ts";
import type { BillingPorts } from "./billing-ports.ts";
import type { Money } from "./money.ts";
import type { Parts } from "../dependencies.ts";

/** Subscriptions, plans and platform invoices. */
export interface Billing {
  readonly billingReader: BillingReader;
  readonly billingDesk: BillingDesk;
  readonly billingRun: BillingRun;
  readonly ledger: Ledger;
  readonly ledgerService: LedgerService;
  readonly receiveWallet: ReceiveWalletService;
  readonly subscriptions: SubscriptionService;
  readonly transitions: Transitions;
  /** Receives every event and announces usage close to a plan's limits. */
  readonly usageWatch: Subscriber;
}

export function makeBilling(
  { config, db, clock, ids, logger, baseUrl, nudges }: Parts,
  { auditor, outbox }: { readonly auditor: Auditor; readonly outbox: Outbox },
  { payments, wallets, managed }: Pick<Money, "payments" | "wallets" | "managed">,
  ports: BillingPorts,
): Billing {
  const networks = new Map(config.networks.map((network) => [network.id, network]));
  const checkoutUrl = (checkoutId: string) => `${baseUrl()}/pay/${checkoutId}`;
  const nudge = () => {
    nudges.nudge(billingWorkerName);
  };
  const common = { db, clock, ids, catalog: config.plans, networks, managed, payments };
  const ledger = makeLedger({ ids, auditor, outbox });
  const billingReader = makeBillingReader({ ...common, checkoutUrl });
  const teller = makeTeller({
    auditor,
    outbox,
    views: (reader, rows) => billingReader.views(reader, rows),
    checkoutUrl,
  });
  const twins = makeTwins(common);
  const settleSurplus = makeSettleSurplus({ payments, ledger });
  const voidInvoice = makeVoiding({ ledger, twins, teller, settleSurplus });
  const cancellations = makeCancellations({ teller, voidInvoice });
  const tools = { ...common, ledger, teller, twins, checkoutUrl, nudge };
  const issuer = makeIssuer(tools);
  const firstInvoices = makeFirstInvoices({ ledger, issuer, voidInvoice });
  const transitions = makeTransitions({ ...tools, issuer, cancellations, firstInvoices });

  ports.managedSettled = makeSettle({ ...tools, settleSurplus, transitions });
  ports.planOf = (organizationId) => planInUse(db, organizationId);
  ports.requireSubscription = (reader, organizationId) =>
    config.billing === "on"
      ? requireSubscription(reader, clock, organizationId)
      : Promise.resolve(() => Promise.resolve());

  const billingRun = makeBillingRun({ ...common, logger, transitions });
  return {
    ...{ billingReader, billingRun, transitions },
    billingDesk: makeBillingDesk({ ...common, issuer, billingRun, cancellations, nudge }),
    ledger,
    ledgerService: makeLedgerService({ ...common, ledger }),
    receiveWallet: makeReceiveWalletService({ db, clock, auditor, wallets, networks }),
    subscriptions: makeSubscriptionService({ ...tools, issuer, firstInvoices }),
    usageWatch: makeUsageWatch({ clock, teller }),
  };
}
