import { makeAdminService, type AdminService } from "../../features/admin/service.ts";
import { makeInstallation, type Installation } from "../../features/admin/installation.ts";
import { makeQueueService, type QueueService } from "../../features/admin/queues.ts";
import type { OversightService } from "../../features/admin/cross-organization/queries.ts";
import { makeApiKeyService, type ApiKeyService } from "../../features/api-keys/service.ts";
import { makeAuditLogService, type AuditLogService } from "../../features/audit-logs/service.ts";
import { subscriptionsOf } from "../../features/billing/subscriptions/views.ts";
import { makeCustomerService, type CustomerService } from "../../features/customers/service.ts";
import { makeExportService, type ExportService } from "../../features/exports/service.ts";
import { makeNetworkService, type NetworkService } from "../../features/networks/service.ts";
import { walletsOf } from "../../features/wallets/store.ts";
import { systemActor } from "../../kernel/actor.ts";
import { createJournal } from "../../platform/journal/index.ts";
import { createLeases, type Leases } from "../../platform/jobs/leases.ts";
import { createJobs, type Jobs } from "../../platform/jobs/queue.ts";
import { createPasswords, type Passwords } from "../../platform/secrets/passwords.ts";
import { deriveKey } from "../../platform/secrets/server-secret.ts";
import { makeAccounts, type Accounts } from "./accounts.ts";
import { lateBillingPorts } from "./billing-ports.ts";
import { makeBilling, type Billing } from "./billing.ts";
import { checkoutUrlOf, type Dependencies } from "../dependencies.ts";
import { isAllTest } from "../networks.ts";
import { makePlatformOversight } from "../operations-status.ts";
import { makePaymentServices, type PaymentServices } from "./payment-services.ts";
import { makeWebhooks, type Webhooks } from "./webhooks.ts";

export interface Services
  extends
    Omit<
      Dependencies,
      | "config"
      | "networks"
      | "secret"
      | "wakeUps"
      | "listening"
      | "stopping"
      | "metrics"
      | "passwordCost"
      | "lastTickAt"
    >,
    Accounts,
    Webhooks,
    PaymentServices,
    Billing {
  readonly leases: Leases;
  readonly jobs: Jobs;
  readonly passwords: Passwords;
  readonly apiKeys: ApiKeyService;
  readonly auditLogs: AuditLogService;
  readonly customers: CustomerService;
  readonly networks: NetworkService;
  readonly exports: ExportService;
  readonly admin: AdminService;
  readonly installation: Installation;
  readonly queues: QueueService;
  /** Reads across organizations, for platform admins, and the status of the installation. */
  readonly oversight: OversightService;
  close(): Promise<void>;
}

/** Creates all services, in the order of src/features/index.ts. */
export function makeServices(parts: Dependencies): Services {
  const { config, db, secret, clock, ids, randomBytes, logger, baseUrl, wakeUps } = parts;
  const wake = (worker: string) => {
    wakeUps.wake(worker);
  };
  const journal = createJournal({
    ids,
    wake: () => {
      wake("relay");
    },
  });
  const leases = createLeases({ db, clock, ids, actor: systemActor("leases") });
  const jobs = createJobs({ ids, wake });
  const passwords = createPasswords(undefined, parts.passwordCost);
  const common = { db, clock, ids, journal };
  const accounts = makeAccounts(parts, journal, passwords);
  const { members, organizations } = accounts;
  const webhooks = makeWebhooks(parts, journal);
  const ports = lateBillingPorts();
  const paymentServices = makePaymentServices(parts, journal, ports);
  const billing = makeBilling(parts, journal, paymentServices, ports);

  return {
    db,
    clock,
    ids,
    randomBytes,
    logger,
    baseUrl,
    leases,
    jobs,
    passwords,
    ...accounts,
    apiKeys: makeApiKeyService({
      ...common,
      randomBytes,
      isTest: isAllTest(parts.networks),
    }),
    auditLogs: makeAuditLogService({ ...common, logger, key: deriveKey(secret, "audit-seals") }),
    customers: makeCustomerService(common),
    networks: makeNetworkService({ db, networks: config.networks }),
    ...webhooks,
    ...paymentServices,
    ...billing,
    exports: makeExportService({
      ...common,
      stopping: parts.stopping,
      networks: parts.networks.known,
    }),
    admin: makeAdminService({
      db,
      clock,
      organizations,
      walletsOf,
      subscriptionsOf: (reader, organizationIds) =>
        subscriptionsOf({ checkoutUrl: checkoutUrlOf(baseUrl) }, reader, organizationIds),
    }),
    installation: makeInstallation({ db, clock, passwords, members, organizations }),
    queues: makeQueueService({ ...common, wake }),
    oversight: makePlatformOversight(parts, { ...paymentServices, leases }),
    async close() {
      await webhooks.deliverer.close();
      await leases.releaseAll();
    },
  };
}
