import type { Gatekeeper } from "../http/declare/permissions.ts";
import type { Readiness } from "../http/monitoring.ts";
import { createIdempotency } from "../http/pipeline/idempotency.ts";
import { mountPages } from "../http/middleware.ts";
import type { MountDependencies } from "../http/pipeline/exchange.ts";
import { mountOperations, type Mountable } from "../http/pipeline/mount.ts";
import { features } from "../features/index.ts";
import type { PageProblem, ProblemPage } from "../http/page.ts";
import {
  batchesPerMinute,
  createRateLimiter,
  exportsPerMinute,
  linkPaymentsPerClient,
  linkPaymentsPerHour,
  linkPaymentsPerRange,
  verificationsPerMinute,
  type RateLimiter,
} from "../http/pipeline/rate-limits.ts";
import { authenticateKey } from "../features/api-keys/api-keys.ts";
import { authenticateUser, membershipAccess } from "../features/auth/authentication.ts";
import { openSandbox, sandboxOf } from "../features/payments/sandbox/sandbox.ts";
import { liveStreamsOf } from "../features/checkout/live.ts";
import { languagesOf } from "../features/checkout/page/languages.ts";
import { renderProblemPage } from "../features/checkout/page/problem-page.ts";
import { spendAllowance } from "../features/organizations/verification.ts";
import { delivererOf } from "../features/webhooks/delivery/deliverer.ts";
import { readProviderStatuses, statusWorker } from "../features/admin/status/operations-status.ts";
import { second, systemClock } from "../kernel/clock.ts";
import { createIds } from "../kernel/id.ts";
import type { Config, EnabledNetworks } from "../platform/config/config.ts";
import { pendingMigrations } from "../platform/database/schema.ts";
import { systemContext } from "../platform/database/database.ts";
import { watchWrites } from "../platform/database/watch-writes.ts";
import { createBackground, type Background } from "../platform/jobs/background.ts";
import { endJobLeases } from "../platform/jobs/queue-worker.ts";
import { createLogger } from "../platform/logger/index.ts";
import { noMetrics } from "../platform/metrics/metrics.ts";
import { noteForwarding } from "../platform/forwarding.ts";
import { parseRange } from "../platform/outbound/address.ts";
import { passwordCost } from "../platform/secrets/passwords.ts";
import { systemRandom } from "../platform/secrets/tokens.ts";
import { programVersion } from "../platform/files.ts";
import { deriveKey } from "../platform/secrets/server-secret.ts";
import type { App, Outside } from "../app.ts";
// Loaded with a server, so that no hook reads files inside a transaction.
import "../features/billing/lifecycle/apply-payment.ts";
import "../features/refunds/changes.ts";
import "../features/refunds/verification/examiner.ts";
import "./issuing-gate.ts";
import { makeApp } from "../make-app.ts";
import { servingOf, type Serving } from "./servers.ts";
import { openStore, type StoreMode } from "./store.ts";
import { makeWorkers } from "./workers.ts";

/** Parts from outside the program. Tests replace these and nothing else; no setting reaches them. */
export interface Externals extends Outside {
  /** A response that does not match its record throws instead of being logged. */
  readonly strictResponses: boolean;
  /** A write inside a write throws at once, and so does a read that bypasses its tx. */
  readonly refusesNesting: boolean;
  /** Ends the start while it waits for servers of an earlier version. */
  readonly starting: AbortSignal;
}

/** The whole program of a process. */
export interface Program extends App {
  readonly version: string;
  readonly background: Background;
  readonly trustedProxies: readonly ReturnType<typeof parseRange>[];
  /** Records that forwarding headers arrived while no proxy was trusted. */
  readonly noteForwarding: () => Promise<void>;
  /** This process among the servers of its store. */
  readonly servers: Serving;
  /** Called by the server once it knows its port. */
  listensAt(url: string): void;
  /** Renders problems of the payers' pages. */
  readonly problemPage: ProblemPage;
  /** The operations and pages of each feature, ready to be mounted on a router of its own. */
  readonly mountables: readonly Mountable[];
  /** Starts the background work. */
  start(): Promise<void>;
  readiness(): Promise<Readiness>;
  /** Makes the process unready, so that proxies send requests to others before it stops. */
  stopsSoon(): void;
  /** Stops the background work and closes the store. */
  close(): Promise<void>;
}

/** The scheduler ticks every second; after a longer silence than this it counts as stuck. */
const schedulerSilenceMax = 15 * second;

/**
 * Builds the program from its settings and its outside dependencies. The only composition root: the server, the command
 * line and the tests all use it.
 */
export async function createApp(
  own: Config,
  storeMode: StoreMode,
  outside: Partial<Externals> = {},
): Promise<Program> {
  const external = externalsOf(own, outside);
  const { clock, logger, metrics } = external;
  const opened = await openStore(own, storeMode, external);
  const { secret } = opened;
  const { db, isRefusing } = watchWrites(opened.db);

  const name = createIds(external.randomBytes).unguessable("prc");
  const serving = servingOf(own, db, { clock, name });
  const enabled = await followed(own, storeMode, serving).catch(async (error: unknown) => {
    await db.close();
    throw error;
  });
  const { baseUrl, listening } = serving;
  const stop = new AbortController();
  const { signal: stopping } = stop;
  const app = makeApp({
    ...external,
    config: own,
    enabled,
    db,
    secret,
    baseUrl,
    listening,
    stopping,
  });
  const { config } = app;
  const workers = [...makeWorkers(app), statusWorker(app, serving.name)];
  const background = createBackground({ workers, clock, logger });
  app.running = {
    ...background,
    wake(worker) {
      background.wake(worker);
      // Every commit that raises an event wakes the relay. The event may change a page that is open.
      if (worker === "relay") liveStreamsOf(app).compare();
    },
  };
  for (const group of features.flatMap(({ metrics: groups }) => groups?.(app) ?? [])) {
    metrics.add(group);
  }

  return Object.assign(app, {
    version: programVersion(),
    background,
    trustedProxies: config.trustProxy.map(parseRange),
    noteForwarding: () => noteForwarding(db, clock),
    servers: serving,
    listensAt: serving.listensAt,

    problemPage: (problem: PageProblem) => renderProblemPage(app, problem),
    mountables: mountFeatures(app, {
      gatekeeper: gatekeeperOf(app),
      idempotency: createIdempotency({ db, clock, key: deriveKey(secret, "idempotency-keys") }),
      rateLimiter: rateLimiterOf(config),
      logger,
      spend: config.verification === "required" ? spendAllowance : null,
      strictResponses: external.strictResponses,
    }),

    ...lifeOf(app, { background, serving, isRefusing, stop }),
  });
}

/** Returns the operations and pages of each feature, ready to be mounted on a router of its own. */
function mountFeatures(app: App, deps: MountDependencies): Mountable[] {
  return features.map(({ operations = [], pages = [] }) => (router) => {
    mountOperations(operations, app, deps)(router);
    mountPages(pages, app, deps.rateLimiter)(router);
  });
}

/** Commands show the links of the server, which payers can reach, and issue on the networks that it reads. */
async function followed(
  own: Config,
  storeMode: StoreMode,
  serving: Serving,
): Promise<EnabledNetworks> {
  if (storeMode === "use") await serving.follow();
  return serving.networks(own);
}

function externalsOf(config: Config, outside: Partial<Externals>): Externals {
  const clock = outside.clock ?? systemClock;
  return {
    clock,
    randomBytes: outside.randomBytes ?? systemRandom,
    logger: outside.logger ?? createLogger({ level: config.logLevel, clock }),
    metrics: outside.metrics ?? noMetrics,
    passwordCost: outside.passwordCost ?? passwordCost,
    strictResponses: outside.strictResponses ?? false,
    refusesNesting: outside.refusesNesting ?? false,
    starting: outside.starting ?? new AbortController().signal,
  };
}

/** Returns how the program starts, how it is, and how it ends. */
function lifeOf(
  app: App,
  running: {
    readonly background: Background;
    readonly serving: Serving;
    readonly isRefusing: () => boolean;
    readonly stop: AbortController;
  },
): Pick<Program, "start" | "readiness" | "stopsSoon" | "close"> {
  const { config } = app;
  const { background, serving, isRefusing, stop } = running;
  let isStopping = false;
  return {
    async start() {
      // Reports faulty files of languages when the server starts, not when a payer comes.
      languagesOf(app);
      if (config.databaseUrl === null) await endFormerLeases(app);
      await serving.begin();
      if (sandboxOf(app) !== null) {
        await openSandbox(app, systemContext("sandbox"), config.sandboxBlockMs);
      }
      background.start();
    },

    readiness: () => readinessOf(app, background, { isRefusing, isStopping }),

    stopsSoon() {
      isStopping = true;
    },

    async close() {
      stop.abort();
      await background.stop();
      await delivererOf(app).close();
      await app.leases.releaseAll();
      await serving.end();
      await app.db.close();
    },
  };
}

function rateLimiterOf(config: Config): RateLimiter {
  return createRateLimiter(
    {
      credential: config.rateLimitCredentialPerMinute,
      organization: config.rateLimitOrganizationPerMinute,
      newOrganization:
        config.verification === "required"
          ? config.rateLimitNewOrganizationPerMinute
          : config.rateLimitOrganizationPerMinute,
      batch: batchesPerMinute,
      exports: exportsPerMinute,
      checkout: config.rateLimitCheckoutPerMinute,
      submit: config.rateLimitSubmitPerMinute,
      verify: verificationsPerMinute,
      link: linkPaymentsPerClient,
      linkInvoices: linkPaymentsPerHour,
      linkRange: linkPaymentsPerRange,
      login: config.rateLimitLoginPerMinute,
      session: config.rateLimitSessionPerMinute,
      registration: config.rateLimitRegistrationPerHour,
    },
    config.rateLimitScale,
  );
}

/** Releases everything that a dead server held: a SQLite store has only one server. */
async function endFormerLeases(app: App): Promise<void> {
  const { db, clock } = app;
  await app.leases.endAll();
  await delivererOf(app).takeOver();
  await db.write(systemContext("jobs"), (tx) => endJobLeases(tx, clock.now()));
}

async function readinessOf(
  app: App,
  background: Background,
  { isRefusing, isStopping }: { readonly isRefusing: () => boolean; readonly isStopping: boolean },
): Promise<Readiness> {
  const { db, clock } = app;
  // Either read may find that the store is down.
  const providers = await pendingMigrations(db)
    .then((pending) => (pending.length === 0 ? readProviderStatuses(app) : null))
    .catch(() => null);
  // The status check writes every ten seconds, so that a store that works again is noticed without requests.
  const store = providers !== null && !isRefusing();
  const lastTick = background.lastTickAt();
  const scheduler = lastTick !== null && clock.now() - lastTick < schedulerSilenceMax;
  return {
    isReady: store && scheduler && !isStopping,
    checks: { store: store ? "ok" : "down", scheduler: scheduler ? "ok" : "down" },
    providers: numbered(store ? providers : []),
  };
}

/** Replaces the providers' hosts by their numbers within their network. */
function numbered(
  providers: Awaited<ReturnType<typeof readProviderStatuses>>,
): Readiness["providers"] {
  return providers.map(({ network, status }, index) => {
    const before = providers.slice(0, index).filter((other) => other.network === network);
    return { network, provider: before.length + 1, status };
  });
}

function gatekeeperOf(app: App): Gatekeeper {
  return {
    session: (accessToken) => authenticateUser(app, accessToken),
    apiKey: (secret) => authenticateKey(app, secret),
    membership: (userId, organizationId) => membershipAccess(app, userId, organizationId),
  };
}
