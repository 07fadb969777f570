import type { Clock } from "../../kernel/clock.ts";
import type { Network } from "../../platform/chain/networks.ts";
import type { Tables } from "../../platform/config/load.ts";
import type { Database } from "../../platform/database/database.ts";
import { deriveKey, type ServerSecret } from "../../platform/secrets/server-secret.ts";
import { checkoutUrlOf } from "../dependencies.ts";
import { networksOf, type EnabledNetworks } from "../networks.ts";
import { WholeProgramNeeded } from "./whole-program-needed.ts";
import type { Services } from "./services.ts";

/** The names of the services. */
export type ServiceName = keyof Services;
export type ServiceOf<Name extends ServiceName> = NonNullable<Services[Name]>;

/** The dependencies with which a service can read. */
export interface ReadingParts extends Omit<Tables, "networks"> {
  readonly networks: () => Promise<EnabledNetworks>;
  /** Its `write` starts the command over in the whole program. */
  readonly db: Database;
  readonly clock: Clock;
  readonly secret: ServerSecret;
  readonly baseUrl: () => string;
}

type Readers = {
  readonly [Name in ServiceName]?: (parts: ReadingParts) => Promise<ServiceOf<Name>>;
};

/**
 * Makes each service as services.ts does, but alone, for a command that only reads. Dependencies that only writes use are
 * absent: a command that uses one after all starts over in the whole program, as it does without a reader of its service.
 */
export const readers: Readers = {
  async admin({ db, clock, baseUrl }) {
    const { makeAdminService } = await import("../../features/admin/service.ts");
    const { walletsOf } = await import("../../features/wallets/store.ts");
    const { subscriptionsOf } = await import("../../features/billing/subscriptions/views.ts");
    const shown = { checkoutUrl: checkoutUrlOf(baseUrl) };
    return readBy(makeAdminService, {
      db,
      clock,
      walletsOf,
      subscriptionsOf: (reader, organizationIds) => subscriptionsOf(shown, reader, organizationIds),
    });
  },

  async users({ db, clock }) {
    const { makeUserService } = await import("../../features/auth/users.ts");
    return readBy(makeUserService, { db, clock });
  },

  async apiKeys({ db, clock }) {
    const { makeApiKeyService } = await import("../../features/api-keys/service.ts");
    return readBy(makeApiKeyService, { db, clock });
  },

  async sessions({ db, clock }) {
    const { makeSessions } = await import("../../features/auth/sessions/sessions.ts");
    return readBy(makeSessions, { db, clock });
  },

  async organizationService({ db, clock }) {
    const { makeOrganizationService } = await import("../../features/organizations/service.ts");
    return readBy(makeOrganizationService, { db, clock });
  },

  async customers({ db, clock }) {
    const { makeCustomerService } = await import("../../features/customers/service.ts");
    return readBy(makeCustomerService, { db, clock });
  },

  async wallets({ db, clock }) {
    const { makeWalletService } = await import("../../features/wallets/service.ts");
    return readBy(makeWalletService, { db, clock });
  },

  async invoices({ db, clock, baseUrl }) {
    const { makeInvoiceService } = await import("../../features/invoices/service.ts");
    const { invoicesOfTransaction } = await import("../../features/payments/listing.ts");
    return readBy(makeInvoiceService, { db, clock, baseUrl, invoicesOfTransaction });
  },

  async oversight(parts) {
    const { db, clock } = parts;
    const { makeOversight } = await import("../../features/admin/cross-organization/queries.ts");
    return readBy(makeOversight, { db, clock, payments: await paymentsOf(parts) });
  },

  async queues({ db, clock }) {
    const { makeQueueService } = await import("../../features/admin/queues.ts");
    return readBy(makeQueueService, { db, clock });
  },

  async webhooks({ db, clock, secret }) {
    const { makeWebhookService } = await import("../../features/webhooks/service.ts");
    const secretKey = deriveKey(secret, "webhook-secrets");
    return readBy(makeWebhookService, { db, clock, secretKey });
  },

  async transfers(parts) {
    const { db, clock } = parts;
    const { makeTransferAllocation } = await import("../../features/payments/inbox/allocation.ts");
    const { makeTransferService } = await import("../../features/payments/inbox/service.ts");
    const networks = await knownNetworks(parts);
    const transfers = makeTransferService({ db, networks });
    return readBy(makeTransferAllocation, { db, clock, networks, transfers });
  },

  async refunds(parts) {
    const { db, clock } = parts;
    const { makeRefundService } = await import("../../features/refunds/service.ts");
    return readBy(makeRefundService, { db, clock, networks: await knownNetworks(parts) });
  },

  async paymentLinks({ db, clock, baseUrl }) {
    const { makePaymentLinkService } = await import("../../features/payment-links/service.ts");
    return readBy(makePaymentLinkService, { db, clock, baseUrl });
  },

  async receipts(parts) {
    const { db, clock, secret, baseUrl } = parts;
    const { makeCheckoutService } = await import("../../features/checkout/service.ts");
    const { makeCheckoutSources } = await import("../../features/checkout/sources.ts");
    const { makeReceiptKeys } = await import("../../features/receipts/keys.ts");
    const { makeReceiptService } = await import("../../features/receipts/service.ts");
    const { enabled, known: networks } = networksOf(await parts.networks());
    const checkout = readBy(makeCheckoutService, {
      db,
      clock,
      networks,
      baseUrl,
      sandbox: null,
      enabled: new Set(enabled.keys()),
      sources: makeCheckoutSources({ db, baseUrl }),
    });
    const keys = readBy(makeReceiptKeys, { db, clock, secret });
    return readBy(makeReceiptService, { clock, checkout, networks, baseUrl, keys });
  },

  async billingReader(parts) {
    const { db, baseUrl, plans } = parts;
    const { makeBillingReader } = await import("../../features/billing/invoices/service.ts");
    return makeBillingReader({
      db,
      catalog: await plans(),
      checkoutUrl: checkoutUrlOf(baseUrl),
      payments: await paymentsOf(parts),
    });
  },

  async billingOperator({ db, clock, plans }) {
    const { makeBillingOperator } = await import("../../features/billing/operator/service.ts");
    return readBy(makeBillingOperator, { db, clock, catalog: await plans() });
  },

  async balanceService({ db, clock, plans }) {
    const { makeBalanceService } = await import("../../features/billing/balances/service.ts");
    return readBy(makeBalanceService, { db, clock, catalog: await plans() });
  },

  async receiveWallet(parts) {
    const { db, clock } = parts;
    const { makeReceiveWalletService } =
      await import("../../features/billing/invoices/receive-wallet.ts");
    const networks = networksOf(await parts.networks()).enabled;
    return readBy(makeReceiveWalletService, { db, clock, networks });
  },

  async analytics(parts) {
    const { db, clock } = parts;
    const { makeAnalyticsService } = await import("../../features/analytics/service.ts");
    return readBy(makeAnalyticsService, { db, clock, networks: await knownNetworks(parts) });
  },

  async auditLogs({ db, clock }) {
    const { makeAuditLogService } = await import("../../features/audit-logs/service.ts");
    return readBy(makeAuditLogService, { db, clock });
  },

  async rates({ db, clock, rates }) {
    const { makeRatesService } = await import("../../features/rates/service.ts");
    return readBy(makeRatesService, { db, clock, plan: await rates() });
  },

  async chains({ db, clock, networks }) {
    const { makeChainService } = await import("../../features/payments/networks/service.ts");
    return readBy(makeChainService, { db, clock, ...networksOf(await networks()) });
  },
};

async function paymentsOf(parts: ReadingParts) {
  const { makePaymentService } = await import("../../features/payments/service.ts");
  return makePaymentService({ db: parts.db, networks: await knownNetworks(parts) });
}

async function knownNetworks(parts: ReadingParts): Promise<ReadonlyMap<string, Network>> {
  return networksOf(await parts.networks()).known;
}

/** Makes a service of some of its dependencies; the others are absent. */
function readBy<Deps extends object, Service>(
  make: (deps: Deps) => Service,
  given: Partial<Deps>,
): Service {
  const deps = new Proxy(given, {
    get: (target, name) => (name in target ? (Reflect.get(target, name) as unknown) : absent),
  });
  return make(deps as Deps);
}

function startOver(): never {
  throw new WholeProgramNeeded();
}

/** Stands for any dependency that only writes use. */
const absent: unknown = new Proxy(startOver, {
  get: startOver,
  has: startOver,
  ownKeys: startOver,
});
