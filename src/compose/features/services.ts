import {
  makeAdminService,
  makeInstallation,
  makeQueueService,
  type AdminService,
  type Installation,
  type OversightService,
  type QueueService,
} from "../../features/admin/index.ts";
import { makeApiKeyService, type ApiKeyService } from "../../features/api-keys/index.ts";
import { makeAuditLogService, type AuditLogService } from "../../features/audit-logs/index.ts";
import {
  createAccessTokens,
  createLoginLock,
  makeAuthService,
  makePasswordService,
  makeSessions,
  makeUserService,
  type AuthService,
  type PasswordService,
  type UserService,
} from "../../features/auth/index.ts";
import { subscriptionsOf } from "../../features/billing/index.ts";
import { makeCustomerService, type CustomerService } from "../../features/customers/index.ts";
import { makeExportService, type ExportService } from "../../features/exports/index.ts";
import { makeMeService, type MeService } from "../../features/me/index.ts";
import {
  makeInvitations,
  makeInvitationService,
  makeMembers,
  makeMemberService,
  type InvitationService,
  type Members,
  type MemberService,
} from "../../features/members/index.ts";
import { makeNetworkService, type NetworkService } from "../../features/networks/index.ts";
import {
  makeOrganizations,
  makeOrganizationService,
  type Organizations,
  type OrganizationService,
} from "../../features/organizations/index.ts";
import { walletsOf } from "../../features/wallets/index.ts";
import { systemActor } from "../../kernel/actor.ts";
import { createJournal } from "../../platform/journal/index.ts";
import { createLeases, type Leases } from "../../platform/jobs/leases.ts";
import { createJobs, type Jobs } from "../../platform/jobs/queue.ts";
import { createPasswords, type Passwords } from "../../platform/secrets/passwords.ts";
import { deriveKey } from "../../platform/secrets/server-secret.ts";
import { hashToken, newToken, refreshSuccessor } from "../../platform/secrets/tokens.ts";
import { lateBillingPorts } from "./billing-ports.ts";
import { makeBilling, type Billing } from "./billing.ts";
import { checkoutUrlOf, type Dependencies } from "../dependencies.ts";
import { makePlatformOversight } from "../operations-status.ts";
import { makePaymentServices, type PaymentServices } from "./payment-services.ts";
import { makeWebhooks, type Webhooks } from "./webhooks.ts";

export interface Services
  extends
    Omit<
      Dependencies,
      | "config"
      | "secret"
      | "wakeUps"
      | "listening"
      | "stopping"
      | "metrics"
      | "passwordCost"
      | "lastTickAt"
    >,
    Webhooks,
    PaymentServices,
    Billing {
  readonly leases: Leases;
  readonly jobs: Jobs;
  readonly passwords: Passwords;
  readonly members: Members;
  readonly memberService: MemberService;
  readonly invitationService: InvitationService;
  readonly organizations: Organizations;
  readonly organizationService: OrganizationService;
  readonly me: MeService;
  readonly auth: AuthService;
  readonly passwordService: PasswordService;
  readonly users: UserService;
  readonly sessions: ReturnType<typeof makeSessions>;
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
  const journal = createJournal({
    ids,
    wake: () => {
      wakeUps.wake("relay");
    },
  });
  const leases = createLeases({ db, clock, ids, actor: systemActor("leases") });
  const jobs = createJobs({
    ids,
    wake: (worker) => {
      wakeUps.wake(worker);
    },
  });
  const passwords = createPasswords(undefined, parts.passwordCost);
  const common = { db, clock, ids, journal };

  const members = makeMembers({ ids, journal });
  const memberService = makeMemberService(common);
  const invitations = makeInvitations({ journal, members });
  const invitationService = makeInvitationService({
    ...common,
    randomBytes,
    members,
    invitations,
  });
  const review = { verification: config.verification };
  const organizations = makeOrganizations({ ...common, ...review, members });
  const organizationService = makeOrganizationService({
    ...common,
    ...review,
    members,
    organizations,
    networks: new Map(config.networks.map((network) => [network.id, network])),
  });

  const me = makeMeService({ db });
  const { auth, passwordService, sessions } = makeSignIn(parts, {
    ...common,
    members,
    invitations,
    organizations,
    passwords,
  });
  const users = makeUserService({ db, clock, passwords, members });
  const isTest = config.networks.every((network) => network.isTest);
  const apiKeys = makeApiKeyService({ ...common, randomBytes, isTest });
  const auditKey = deriveKey(secret, "audit-seals");
  const auditLogs = makeAuditLogService({ db, clock, journal, logger, key: auditKey });
  const customers = makeCustomerService(common);
  const networks = makeNetworkService({ db, networks: config.networks });
  const webhooks = makeWebhooks(parts, journal);
  const ports = lateBillingPorts();
  const paymentServices = makePaymentServices(parts, journal, ports);
  const billing = makeBilling(parts, journal, paymentServices, ports);
  const exports = makeExportService({
    db,
    clock,
    journal,
    stopping: parts.stopping,
    networks: new Map(
      [...config.knownNetworks, ...config.networks].map((network) => [network.id, network]),
    ),
  });
  const admin = makeAdminService({
    db,
    clock,
    organizations,
    walletsOf,
    subscriptionsOf: (reader, organizationIds) =>
      subscriptionsOf({ checkoutUrl: checkoutUrlOf(baseUrl) }, reader, organizationIds),
  });

  const installation = makeInstallation({ db, clock, passwords, members, organizations });
  const queues = makeQueueService({
    db,
    clock,
    journal,
    wake: (worker) => {
      wakeUps.wake(worker);
    },
  });

  const oversight = makePlatformOversight(parts, { ...paymentServices, leases });

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
    members,
    memberService,
    invitationService,
    organizations,
    organizationService,
    me,
    auth,
    passwordService,
    users,
    sessions,
    apiKeys,
    auditLogs,
    customers,
    networks,
    ...webhooks,
    ...paymentServices,
    ...billing,
    exports,
    admin,
    installation,
    queues,
    oversight,
    async close() {
      await webhooks.deliverer.close();
      await leases.releaseAll();
    },
  };
}

/** Makes what a user signs in with: sessions and passwords. */
function makeSignIn(
  { config, secret, randomBytes }: Dependencies,
  deps: Omit<
    Parameters<typeof makeAuthService>[0],
    "accessTokens" | "refreshTokens" | "loginLock" | "registration"
  >,
) {
  const { db, clock } = deps;
  const accessTokens = createAccessTokens({ key: deriveKey(secret, "access-tokens"), clock });
  const refreshKey = deriveKey(secret, "refresh-tokens");
  const loginLock = createLoginLock({ clock });
  const auth = makeAuthService({
    ...deps,
    accessTokens,
    refreshTokens: {
      create: () => newToken("refresh", randomBytes),
      successor: (token) => refreshSuccessor(refreshKey, token),
      hash: hashToken,
    },
    loginLock,
    registration: config.registration,
  });
  const passwordService = makePasswordService({ ...deps, randomBytes, loginLock });
  const sessions = makeSessions({ db, clock, journal: deps.journal, accessTokens });
  return { auth, passwordService, sessions };
}
