import type { SandboxService } from "../features/payments/sandbox/service.ts";
import { systemActor } from "../kernel/actor.ts";
import { second } from "../kernel/clock.ts";
import type { Id } from "../kernel/id.ts";
import { systemContext } from "../platform/database/system-context.ts";
import type { Reader } from "../platform/database/database.ts";
import { once } from "../platform/once.ts";
import { deriveKey } from "../platform/secrets/server-secret.ts";
import { isAllTest } from "../platform/config/enabled-networks.ts";
import type { App } from "../app.ts";

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

  const leases = once(async () => {
    const { createLeases } = await import("../platform/jobs/leases.ts");
    return createLeases({ db, clock, ids, actor: systemActor("leases") });
  });
  const jobs = once(async () => {
    const { createJobs } = await import("../platform/jobs/queue.ts");
    return createJobs({ ids, wake });
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

  // Invoices and wallets.
  const issuing = once(async () => {
    const { createRecentStates } = await import("../platform/chain/state/network-state.ts");
    const { createQuotes } = await import("../features/rates/quotes.ts");
    return {
      ...common,
      randomBytes,
      networks: enabled,
      baseUrl,
      recentState: createRecentStates(clock, second),
      quotes: createQuotes({ plan: config.rates, clock, ageMaxMs: second }),
    };
  });
  const gated = once(async () => {
    const { customersAmong } = await import("../features/customers/store.ts");
    const { issuingGateOf } = await import("./issuing-gate.ts");
    return { ...(await issuing()), issuingGate: issuingGateOf(config, clock), customersAmong };
  });
  const wallets = once(async () => {
    const { makeWalletService } = await import("../features/wallets/service.ts");
    return makeWalletService({
      ...common,
      networks: enabled,
      limits: { active: config.walletsPerOrganization, verification },
    });
  });
  const invoices = once(async () => {
    const { makeInvoiceService } = await import("../features/invoices/service.ts");
    const { countingPayments, invoicesOfTransaction } =
      await import("../features/payments/listing.ts");
    return makeInvoiceService({ ...(await gated()), invoicesOfTransaction, countingPayments });
  });
  const settlement = once(async () => {
    const { makeSettlement } = await import("../features/invoices/settlement/settlement.ts");
    const { countingPayments } = await import("../features/payments/listing.ts");
    const { countStarted } = await import("../features/billing/subscriptions/issuing-gate.ts");
    const { applyPlatformPayments } =
      await import("../features/billing/lifecycle/apply-payment.ts");
    return makeSettlement({
      ...common,
      randomBytes,
      networks: known,
      baseUrl,
      countingPayments,
      invoicePaid: (tx, rows, at) => applyPlatformPayments(tx, parts, at, rows),
      countStarted,
    });
  });

  // Payments and refunds.
  const ledger = once(async () => {
    const { ledgerOf } = await import("./ledger.ts");
    return ledgerOf(parts, await settlement());
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

  // Events and their deliveries.
  const webhookParts = once(async () => {
    const { makeEndpointWriter } = await import("../features/webhooks/endpoints/writer.ts");
    const { guardOf } = await import("./guard.ts");
    return {
      ...common,
      randomBytes,
      endpointWriter: makeEndpointWriter({ journal }),
      secretKey: deriveKey(secret, "webhook-secrets"),
      wake: () => {
        wake("webhooks");
      },
      guard: guardOf(parts),
    };
  });

  const capacity = once(async () => {
    const { makeCapacityService } = await import("../features/invoices/capacity/service.ts");
    const listed = [...enabled.values()];
    return makeCapacityService({ db, clock, networks: known, enabled: listed });
  });
  const analytics = once(async () => {
    const { makeAnalyticsService } = await import("../features/analytics/service.ts");
    return makeAnalyticsService({ db, clock, networks: known });
  });
  const rates = once(async () => {
    const { makeRatesService } = await import("../features/rates/service.ts");
    const { makeOutwardFetch } = await import("../platform/outbound/proxy.ts");
    const fetch = makeOutwardFetch(config.proxy);
    const plan = config.rates;
    return makeRatesService({ db, clock, logger, journal, stopping: parts.stopping, fetch, plan });
  });

  return {
    /** For features whose functions take the app itself. */
    app: () => Promise.resolve(parts),
    leases,
    jobs,
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
    events: once(async () => {
      const { makeEventService } = await import("../features/events/service.ts");
      return makeEventService({ db, cursorKey: deriveKey(secret, "event-cursors") });
    }),
    webhooks: once(async () => {
      const { makeWebhookService } = await import("../features/webhooks/service.ts");
      return makeWebhookService(await webhookParts());
    }),
    fanOut: once(async () => {
      const { makeFanOut } = await import("../features/webhooks/delivery/fan-out.ts");
      return makeFanOut(await webhookParts());
    }),
    deliverer: once(async () => {
      const { createDeliverer } = await import("../features/webhooks/delivery/deliverer.ts");
      const { createSender } = await import("../platform/outbound/sender.ts");
      const { guard, ...delivering } = await webhookParts();
      return createDeliverer({
        ...delivering,
        sender: createSender({ guard, clock }),
        context: systemContext("webhooks"),
        perSecond: config.webhookRatePerSecond,
        logger,
        metrics: parts.metrics,
      });
    }),
    wallets,
    invoices,
    invoiceBatches: once(async () => {
      const { makeInvoiceBatchService } = await import("../features/invoices/batches/service.ts");
      return makeInvoiceBatchService(await gated());
    }),
    settlement,
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
    analytics,
    usage: once(async () => {
      const { makeUsageService } = await import("../features/usage/service.ts");
      const { planInUse } = await import("../features/billing/subscriptions/views.ts");
      const { countUsage } = await analytics();
      return makeUsageService({
        clock,
        count: countUsage,
        planOf: (organizationId: Id<"organization">) => planInUse(db, organizationId),
      });
    }),
    rates,
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
    exports: once(async () => {
      const { makeExportService } = await import("../features/exports/service.ts");
      return makeExportService({ ...common, stopping: parts.stopping, networks: known });
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
          subscriptionsOf(reader, parts, organizationIds),
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
      return makeOversight(parts);
    }),
    installationStatus: once(async () => {
      const { makeInstallationStatus } = await import("./operations-status.ts");
      return makeInstallationStatus(parts, {
        networks: [...enabled.values()],
        plan: config.rates,
        watchers: (await ledger()).watchers,
        leases: await leases(),
        rates: await rates(),
        capacity: await capacity(),
      });
    }),
  };
}
