import { makeAdminService, type AdminService } from "../features/admin/index.ts";
import { makeApiKeyService, type ApiKeyService } from "../features/api-keys/index.ts";
import {
  createAccessTokens,
  createLoginLock,
  makeAuthService,
  makeSessions,
  type AuthService,
} from "../features/auth/index.ts";
import { makeCustomerService, type CustomerService } from "../features/customers/index.ts";
import { makeMembers, type Members } from "../features/members/index.ts";
import {
  makeOrganizations,
  makeOrganizationService,
  type Organizations,
  type OrganizationService,
} from "../features/organizations/index.ts";
import { systemActor } from "../kernel/actor.ts";
import type { Clock } from "../kernel/clock.ts";
import type { IdSource, RandomBytes } from "../kernel/id.ts";
import { createAuditor } from "../platform/audit/index.ts";
import type { Config } from "../platform/config/index.ts";
import type { Database } from "../platform/database/index.ts";
import { createOutbox } from "../platform/events/index.ts";
import { createLeases, type Leases } from "../platform/jobs/leases.ts";
import type { Logger } from "../platform/logger/index.ts";
import { createPasswords, type Passwords } from "../platform/secrets/passwords.ts";
import { deriveKey, type ServerSecret } from "../platform/secrets/server-secret.ts";
import { hashToken, newToken, refreshSuccessor } from "../platform/secrets/tokens.ts";

/** What every service is made of. */
export interface Parts {
  readonly config: Config;
  readonly db: Database;
  readonly secret: ServerSecret;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly randomBytes: RandomBytes;
  readonly logger: Logger;
  readonly baseUrl: () => string;
  /** Wakes a background worker by its name; filled when the workers are there. */
  readonly nudges: { nudge: (worker: string) => void };
}

export interface Services extends Omit<Parts, "config" | "secret" | "nudges"> {
  readonly leases: Leases;
  readonly passwords: Passwords;
  readonly members: Members;
  readonly organizations: Organizations;
  readonly organizationService: OrganizationService;
  readonly auth: AuthService;
  readonly sessions: ReturnType<typeof makeSessions>;
  readonly apiKeys: ApiKeyService;
  readonly customers: CustomerService;
  readonly admin: AdminService;
  close(): Promise<void>;
}

/** Makes every service from those that stand before it in src/features/index.ts. */
export function makeServices(parts: Parts): Services {
  const { config, db, secret, clock, ids, randomBytes, logger, baseUrl, nudges } = parts;
  const auditor = createAuditor(ids);
  const outbox = createOutbox({
    ids,
    nudge: () => {
      nudges.nudge("relay");
    },
  });
  const leases = createLeases({ db, clock, ids, actor: systemActor("leases") });
  const passwords = createPasswords();
  const common = { db, clock, ids, auditor, outbox };

  const members = makeMembers({ ids, auditor });
  const organizations = makeOrganizations({ ...common, members });
  const organizationService = makeOrganizationService({ ...common, members, organizations });

  const accessTokens = createAccessTokens({ key: deriveKey(secret, "access-tokens"), clock });
  const refreshKey = deriveKey(secret, "refresh-tokens");
  const auth = makeAuthService({
    ...common,
    members,
    organizations,
    accessTokens,
    refreshTokens: {
      create: () => newToken("refresh", randomBytes),
      successor: (token) => refreshSuccessor(refreshKey, token),
      hash: hashToken,
    },
    passwords,
    loginLock: createLoginLock(),
    registration: config.registration,
  });
  const sessions = makeSessions({ db, accessTokens });
  const isTest = config.networks.every((network) => network.isTest);
  const apiKeys = makeApiKeyService({ ...common, randomBytes, isTest });
  const customers = makeCustomerService(common);
  const admin = makeAdminService({
    db,
    clock,
    organizations,
    walletsOf: () => Promise.resolve([]),
  });

  return {
    db,
    clock,
    ids,
    randomBytes,
    logger,
    baseUrl,
    leases,
    passwords,
    members,
    organizations,
    organizationService,
    auth,
    sessions,
    apiKeys,
    customers,
    admin,
    close: () => leases.releaseAll(),
  };
}
