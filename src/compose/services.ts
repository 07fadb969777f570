import type { SandboxService } from "../features/payments/sandbox/service.ts";
import { systemActor } from "../kernel/actor.ts";
import { second } from "../kernel/clock.ts";
import type { Id } from "../kernel/id.ts";
import type { Reader } from "../platform/database/database.ts";
import { once } from "../platform/once.ts";
import { deriveKey } from "../platform/secrets/server-secret.ts";
import { isAllTest } from "../platform/config/enabled-networks.ts";
import { checkoutUrl as checkoutUrlOf, type App } from "../app.ts";

/** The functions that make the services, by their names. Each makes its service once, from those that it needs. */
export type ServiceMakers = ReturnType<typeof makersOf>;
export type ServiceName = keyof ServiceMakers;
export type ServiceOf<Name extends ServiceName> = NonNullable<
  Awaited<ReturnType<ServiceMakers[Name]>>
>;

/** All services, as a server has them. */
export type Services = {
  readonly [Name in ServiceName]: Awaited<ReturnType<ServiceMakers[Name]>>;
};

/** Makes all services. */
export async function makeServices(parts: App): Promise<Services> {
  const makers = Object.entries(makersOf(parts));
  const made = await Promise.all(makers.map(async ([name, make]) => [name, await make()] as const));
  return Object.fromEntries(made) as Services;
}

/**
 * Returns the functions that make the services. A command makes the one that it calls, and so loads only what that
 * needs; a server makes all of them.
 */
export function makersOf(parts: App) {
  const { config, db, journal, secret, clock, ids, randomBytes, logger, baseUrl } = parts;
  const { networks } = parts;
  const wake = (worker: string) => parts.running?.wake(worker);
  const { known, enabled } = networks;
  const common = { db, clock, ids, journal };
  const { verification } = config;
  const checkoutUrl = (checkoutId: string) => checkoutUrlOf(parts, checkoutId);

  const leases = once(async () => {
    const { createLeases } = await import("../platform/jobs/leases.ts");
    return createLeases({ db, clock, ids, actor: systemActor("leases") });
  });
  const passwords = once(async () => {
    const { createPasswords } = await import("../platform/secrets/passwords.ts");
    return createPasswords(undefined, parts.passwordCost);
  });

  // Users, their sessions, and the organizations of which they are members.
  const members = once(async () => {
    const { makeMembers } = await import("../features/members/service.ts");
    return makeMembers({ ids, journal });
  });
  const invitations = once(async () => {
    const { makeInvitations } = await import("../features/members/invitations.ts");
    return makeInvitations({ journal, members: await members() });
  });
  const organizations = once(async () => {
    const { makeOrganizations } = await import("../features/organizations/organizations.ts");
    return makeOrganizations({ ...common, verification, members: await members() });
  });
  const loginLock = once(async () => {
    const { createLoginLock } = await import("../features/auth/login-lock.ts");
    return createLoginLock({ clock });
  });
  const accessTokens = once(async () => {
    const { createAccessTokens } = await import("../features/auth/sessions/access-tokens.ts");
    return createAccessTokens({ key: deriveKey(secret, "access-tokens"), clock });
  });

  // Invoices.
  const issuing = once(async () => {
    const { createRecentStates } = await import("../platform/chain/state/network-state.ts");
    const { quotesOf } = await import("../features/rates/quotes.ts");
    return {
      ...common,
      randomBytes,
      networks: enabled,
      baseUrl,
      recentState: createRecentStates(clock, second),
      quotes: quotesOf(parts),
    };
  });
  const gated = once(async () => {
    const { customersAmong } = await import("../features/customers/store.ts");
    const { issuingGateOf } = await import("./issuing-gate.ts");
    return { ...(await issuing()), issuingGate: issuingGateOf(config, clock), customersAmong };
  });
  const invoices = once(async () => {
    const { makeInvoiceService } = await import("../features/invoices/service.ts");
    const { countingPayments, invoicesOfTransaction } =
      await import("../features/payments/listing.ts");
    return makeInvoiceService({ ...(await gated()), invoicesOfTransaction, countingPayments });
  });
  const managed = once(async () => {
    const { makeManagedInvoices } = await import("../features/invoices/managed/service.ts");
    return makeManagedInvoices(await issuing());
  });
  const settlement = once(async () => {
    const { makeSettlement } = await import("../features/invoices/settlement/settlement.ts");
    const { countingPayments } = await import("../features/payments/listing.ts");
    const { countStarted } = await import("../features/billing/subscriptions/issuing-gate.ts");
    return makeSettlement({
      ...common,
      randomBytes,
      networks: known,
      baseUrl,
      countingPayments,
      invoicePaid: await paymentApplication(),
      countStarted,
    });
  });

  // Payments and refunds.
  const payments = once(async () => {
    const { makePaymentService } = await import("../features/payments/service.ts");
    return makePaymentService({ db, networks: known });
  });
  const ledger = once(async () => {
    const { ledgerOf } = await import("./ledger.ts");
    return ledgerOf(parts, await settlement());
  });

  // Billing of the merchants.
  const billing = once(async () => ({
    db,
    clock,
    ids,
    catalog: config.plans,
    networks: enabled,
    managed: await managed(),
    payments: await payments(),
  }));
  const balances = once(async () => {
    const { makeBalances } = await import("../features/billing/balances/balances.ts");
    return makeBalances({ ids, journal });
  });
  const billingReader = once(async () => {
    const { makeBillingReader } = await import("../features/billing/invoices/service.ts");
    const catalog = config.plans;
    return makeBillingReader({ db, catalog, payments: await payments(), checkoutUrl });
  });
  const announcer = once(async () => {
    const { makeBillingAnnouncer } = await import("../features/billing/announce.ts");
    const { views } = await billingReader();
    return makeBillingAnnouncer({ journal, views, checkoutUrl });
  });
  const collectionInvoices = once(async () => {
    const { makeCollectionInvoices } =
      await import("../features/billing/invoices/collection-invoice.ts");
    return makeCollectionInvoices(await billing());
  });
  const creditSurplus = once(async () => {
    const { makeCreditSurplus } = await import("../features/billing/balances/surplus.ts");
    return makeCreditSurplus({ payments: await payments(), balances: await balances() });
  });
  const voidInvoice = once(async () => {
    const { makeVoiding } = await import("../features/billing/invoices/void.ts");
    return makeVoiding({
      balances: await balances(),
      collectionInvoices: await collectionInvoices(),
      announcer: await announcer(),
      creditSurplus: await creditSurplus(),
    });
  });
  const cancellations = once(async () => {
    const { makeCancellations } = await import("../features/billing/lifecycle/cancel.ts");
    return makeCancellations({ announcer: await announcer(), voidInvoice: await voidInvoice() });
  });
  const billingTools = once(async () => {
    const { billingWorkerName } = await import("../features/billing/lifecycle/worker.ts");
    return {
      ...(await billing()),
      balances: await balances(),
      announcer: await announcer(),
      collectionInvoices: await collectionInvoices(),
      checkoutUrl,
      wake: () => {
        wake(billingWorkerName);
      },
    };
  });
  const issuer = once(async () => {
    const { makeIssuer } = await import("../features/billing/invoices/issuer.ts");
    return makeIssuer(await billingTools());
  });
  const firstInvoices = once(async () => {
    const { makeFirstInvoices } = await import("../features/billing/invoices/first-invoice.ts");
    return makeFirstInvoices({
      balances: await balances(),
      issuer: await issuer(),
      voidInvoice: await voidInvoice(),
    });
  });
  const steps = once(async () => {
    const { makeSubscriptionSteps } =
      await import("../features/billing/lifecycle/subscription-steps.ts");
    return makeSubscriptionSteps({
      ...(await billingTools()),
      issuer: await issuer(),
      cancellations: await cancellations(),
      firstInvoices: await firstInvoices(),
    });
  });
  const paymentApplication = once(async () => {
    const { makePaymentApplication } =
      await import("../features/billing/lifecycle/apply-payment.ts");
    return makePaymentApplication({
      ...(await billingTools()),
      creditSurplus: await creditSurplus(),
      steps: await steps(),
    });
  });
  const billingRun = once(async () => {
    const { makeBillingRun } = await import("../features/billing/lifecycle/worker.ts");
    return makeBillingRun({ ...(await billing()), logger, steps: await steps() });
  });

  // Payers.
  const sandbox = once(async (): Promise<SandboxService | null> => {
    const { sandboxOf } = await import("./chains.ts");
    const simulated = sandboxOf(parts, [...enabled.values()]);
    if (simulated === null) return null;
    const { makeSandboxService } = await import("../features/payments/sandbox/service.ts");
    const { watchWorkerName } = await import("../features/payments/worker.ts");
    const wakeWatcher = () => {
      wake(watchWorkerName(simulated.network.id));
    };
    return makeSandboxService({ db, clock, journal, baseUrl, ...simulated, wake: wakeWatcher });
  });
  const checkout = once(async () => {
    const { makeCheckoutService } = await import("../features/checkout/service.ts");
    const { makeCheckoutSources } = await import("../features/checkout/sources.ts");
    const { chooseOption } = await import("../features/invoices/options/choose.ts");
    const { makeHashClaims } = await import("../features/payments/hash-claims/submit-claim.ts");
    const { makePayerRefunds } = await import("../features/refunds/payer/payer-refunds.ts");
    const { makeCheckoutSandbox } = await import("./checkout-sandbox.ts");
    const chosenFrom = await issuing();
    const { refunding, nudgeExaminer: nudge } = await ledger();
    const simulated = await sandbox();
    return makeCheckoutService({
      db,
      clock,
      networks: known,
      enabled: new Set(enabled.keys()),
      baseUrl,
      pageKey: deriveKey(secret, "refund-forms"),
      sources: makeCheckoutSources({ db, baseUrl }),
      claims: makeHashClaims({ ...common, invoices: await settlement(), nudge }),
      refunds: makePayerRefunds(refunding),
      choose: (tx, checkoutId, chosen, at) => chooseOption(tx, chosenFrom, checkoutId, chosen, at),
      sandbox:
        simulated === null
          ? null
          : makeCheckoutSandbox({ db, invoices: await invoices(), sandbox: simulated }),
    });
  });

  const capacity = once(async () => {
    const { makeCapacityService } = await import("../features/invoices/capacity/service.ts");
    const listed = [...enabled.values()];
    return makeCapacityService({ db, clock, networks: known, enabled: listed });
  });

  return {
    /** For features whose functions take the app itself. */
    app: () => Promise.resolve(parts),
    leases,
    passwords,
    members,
    organizations,
    memberService: once(async () => {
      const { makeMemberService } = await import("../features/members/service.ts");
      return makeMemberService(common);
    }),
    invitationService: once(async () => {
      const { makeInvitationService } = await import("../features/members/invitations.ts");
      return makeInvitationService({
        ...common,
        randomBytes,
        members: await members(),
        invitations: await invitations(),
      });
    }),
    organizationService: once(async () => {
      const { makeOrganizationService } = await import("../features/organizations/service.ts");
      return makeOrganizationService({
        ...common,
        verification,
        members: await members(),
        organizations: await organizations(),
        networks: enabled,
      });
    }),
    me: once(async () => {
      const { makeMeService } = await import("../features/me/service.ts");
      return makeMeService({ db });
    }),
    auth: once(async () => {
      const { makeAuthService } = await import("../features/auth/service.ts");
      const { hashToken, newToken, refreshSuccessor } =
        await import("../platform/secrets/tokens.ts");
      const refreshKey = deriveKey(secret, "refresh-tokens");
      return makeAuthService({
        ...common,
        members: await members(),
        invitations: await invitations(),
        organizations: await organizations(),
        passwords: await passwords(),
        accessTokens: await accessTokens(),
        refreshTokens: {
          create: () => newToken("refresh", randomBytes),
          successor: (token) => refreshSuccessor(refreshKey, token),
          hash: hashToken,
        },
        loginLock: await loginLock(),
        registration: config.registration,
      });
    }),
    passwordService: once(async () => {
      const { makePasswordService } = await import("../features/auth/passwords.ts");
      return makePasswordService({
        ...common,
        randomBytes,
        passwords: await passwords(),
        loginLock: await loginLock(),
      });
    }),
    sessions: once(async () => {
      const { makeSessions } = await import("../features/auth/sessions/sessions.ts");
      return makeSessions({ db, clock, journal, accessTokens: await accessTokens() });
    }),
    users: once(async () => {
      const { makeUserService } = await import("../features/auth/users.ts");
      return makeUserService({ db, clock, passwords: await passwords(), members: await members() });
    }),
    apiKeys: once(async () => {
      const { makeApiKeyService } = await import("../features/api-keys/service.ts");
      return makeApiKeyService({ ...common, randomBytes, isTest: isAllTest(networks) });
    }),
    auditLogs: once(async () => {
      const { makeAuditLogService } = await import("../features/audit-logs/service.ts");
      return makeAuditLogService({ ...common, logger, key: deriveKey(secret, "audit-seals") });
    }),
    invoices,
    invoiceBatches: once(async () => {
      const { makeInvoiceBatchService } = await import("../features/invoices/batches/service.ts");
      return makeInvoiceBatchService(await gated());
    }),
    managed,
    settlement,
    payments,
    decisions: once(async () => (await ledger()).decisions),
    transfers: once(async () => (await ledger()).transfers),
    refunds: once(async () => (await ledger()).refunds),
    chains: once(async () => (await ledger()).chains),
    watchers: once(async () => (await ledger()).watchers),
    examiners: once(async () => (await ledger()).examiners),
    monitors: once(async () => (await ledger()).monitors),
    pools: once(async () => (await ledger()).pools),
    capacity,
    capacityWatch: once(async () => {
      const { makeCapacityWatch } = await import("../features/invoices/capacity/watch.ts");
      return makeCapacityWatch({ clock, journal, networks: known });
    }),
    sandbox,
    checkout,
    paymentLinks: once(async () => {
      const { makePaymentLinkService } = await import("../features/payment-links/service.ts");
      return makePaymentLinkService({
        ...common,
        baseUrl,
        networks: known,
        enabled: new Set(enabled.keys()),
        invoices: await invoices(),
      });
    }),
    receipts: once(async () => {
      const { makeReceiptService } = await import("../features/receipts/service.ts");
      const { makeReceiptKeys } = await import("../features/receipts/keys.ts");
      return makeReceiptService({
        clock,
        checkout: await checkout(),
        networks: known,
        baseUrl,
        keys: makeReceiptKeys({ db, clock, journal, secret }),
      });
    }),
    billingReader,
    billingRun,
    steps,
    balances,
    billingOperator: once(async () => {
      const { makeBillingOperator } = await import("../features/billing/operator/service.ts");
      return makeBillingOperator({
        ...(await billingTools()),
        issuer: await issuer(),
        billingRun: await billingRun(),
        cancellations: await cancellations(),
      });
    }),
    balanceService: once(async () => {
      const { makeBalanceService } = await import("../features/billing/balances/service.ts");
      return makeBalanceService({ ...(await billing()), balances: await balances() });
    }),
    receiveWallet: once(async () => {
      const { makeReceiveWalletService } =
        await import("../features/billing/invoices/receive-wallet.ts");
      return makeReceiveWalletService(parts);
    }),
    subscriptions: once(async () => {
      const { makeSubscriptionService } =
        await import("../features/billing/subscriptions/service.ts");
      return makeSubscriptionService({
        ...(await billingTools()),
        issuer: await issuer(),
        firstInvoices: await firstInvoices(),
      });
    }),
    usageWatch: once(async () => {
      const { makeUsageWatch } = await import("../features/billing/subscriptions/issuing-gate.ts");
      return makeUsageWatch({ clock, announcer: await announcer() });
    }),
    admin: once(async () => {
      const { makeAdminService } = await import("../features/admin/service.ts");
      const { walletsOf } = await import("../features/wallets/store.ts");
      const { subscriptionsOf } = await import("../features/billing/subscriptions/views.ts");
      return makeAdminService({
        db,
        clock,
        organizations: await organizations(),
        walletsOf,
        subscriptionsOf: (reader: Reader, organizationIds: readonly Id<"organization">[]) =>
          subscriptionsOf({ checkoutUrl }, reader, organizationIds),
      });
    }),
    installation: once(async () => {
      const { makeInstallation } = await import("../features/admin/installation.ts");
      return makeInstallation({
        db,
        clock,
        passwords: await passwords(),
        members: await members(),
        organizations: await organizations(),
      });
    }),
    queues: once(async () => {
      const { makeQueueService } = await import("../features/admin/queues.ts");
      return makeQueueService({ ...common, wake });
    }),
    oversight: once(async () => {
      const { makeOversight } = await import("../features/admin/cross-organization/queries.ts");
      return makeOversight({ db, payments: await payments() });
    }),
    installationStatus: once(async () => {
      const { makeInstallationStatus } = await import("./operations-status.ts");
      return makeInstallationStatus(parts, {
        networks: [...enabled.values()],
        watchers: (await ledger()).watchers,
        leases: await leases(),
        capacity: await capacity(),
      });
    }),
  };
}
