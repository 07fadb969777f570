import type { Gatekeeper } from "../api/declare/access.ts";
import type { Readiness } from "../api/health.ts";
import { createIdempotency } from "../api/pipeline/idempotency.ts";
import type { Mountable } from "../api/pipeline/mount.ts";
import type { ProblemPage } from "../api/page.ts";
import {
  batchesPerMinute,
  createRateLimiter,
  exportsPerMinute,
  linkPaymentsPerClient,
  linkPaymentsPerHour,
  verificationsPerMinute,
} from "../api/pipeline/rate-limits.ts";
import { makeProblemPage } from "../features/checkout/index.ts";
import type { OversightService } from "../features/admin/index.ts";
import { systemActor } from "../kernel/actor.ts";
import { second, systemClock, type Clock } from "../kernel/clock.ts";
import { createIds, type RandomBytes } from "../kernel/id.ts";
import type { Config } from "../platform/config/index.ts";
import { pendingMigrations, type WriteContext } from "../platform/database/index.ts";
import { watchWrites } from "../platform/database/watch-writes.ts";
import { createBackground, type Background } from "../platform/jobs/background.ts";
import { endJobLeases } from "../platform/jobs/job-leases.ts";
import { createLogger, type Logger } from "../platform/logger/index.ts";
import { noMetrics, type Metrics } from "../platform/metrics/metrics.ts";
import { noteForwarding } from "../platform/forwarding.ts";
import { parseRange } from "../platform/outbound/address.ts";
import { passwordCost, type PasswordCost } from "../platform/secrets/passwords.ts";
import { systemRandom } from "../platform/secrets/random.ts";
import { programVersion } from "../platform/version.ts";
import { deriveKey } from "../platform/secrets/server-secret.ts";
import { servingOf, type Serving } from "./servers.ts";
import { makeServices, type Services } from "./features/services.ts";
import { modules, mountModules } from "./modules.ts";
import { openStore, type StoreMode } from "./store.ts";
import { makeWorkers } from "./workers.ts";

/** Dependencies from outside the program. Tests replace these and nothing else; no setting reaches them. */
export interface Externals {
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Hashing cost of new passwords. */
  readonly passwordCost: PasswordCost;
  /** A response that does not match its record throws instead of being logged. */
  readonly strictAnswers: boolean;
  /** A write inside a write throws at once, and so does a read that bypasses its tx. */
  readonly refusesNesting: boolean;
}

export interface App extends Services {
  readonly config: Config;
  readonly version: string;
  readonly background: Background;
  readonly metrics: Metrics;
  readonly trustedProxies: readonly ReturnType<typeof parseRange>[];
  /** Records that forwarding headers arrived while no proxy was trusted. */
  readonly noteForwarding: () => Promise<void>;
  /** Returns the URL prefix of links. */
  readonly baseUrl: () => string;
  /** This process among the servers of its store. */
  readonly servers: Serving;
  /** Called by the server once it knows its port. */
  listensAt(url: string): void;
  /** Renders problems of the payers' pages. */
  readonly problemPage: ProblemPage;
  /** All operations and pages, ready to be mounted on a router. */
  readonly mountables: readonly Mountable[];
  /** Starts the background work. */
  start(): Promise<void>;
  readiness(): Promise<Readiness>;
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
): Promise<App> {
  const clock = outside.clock ?? systemClock;
  const randomBytes = outside.randomBytes ?? systemRandom;
  const logger = outside.logger ?? createLogger({ level: own.logLevel, clock });
  const metrics = outside.metrics ?? noMetrics;
  const cost = outside.passwordCost ?? passwordCost;
  const ids = createIds(randomBytes);
  const opened = await openStore(own, storeMode, {
    clock,
    logger,
    randomBytes,
    refusesNesting: outside.refusesNesting ?? false,
  });
  const { secret } = opened;
  const { db, isRefusing } = watchWrites(opened.db);

  const serving = servingOf(own, db, { clock, name: ids.unguessable("prc") });
  // Commands show the links of the server, which payers can reach, and issue on the networks that it reads.
  if (storeMode === "use") await serving.follow();
  const config = { ...own, networks: serving.networks(own) };
  const { baseUrl } = serving;
  const wakeUps = { wake: (_worker: string): void => undefined };
  const stop = new AbortController();
  const parts = {
    config,
    db,
    secret,
    clock,
    ids,
    randomBytes,
    logger,
    metrics,
    passwordCost: cost,
    baseUrl,
    listening: serving.listening,
    stopping: stop.signal,
    lastTickAt: () => background.lastTickAt(),
    wakeUps,
  };
  const services = makeServices(parts);
  const wired = { ...services, config };
  const { oversight } = services;
  const prober = oversight.prober(serving.name, systemContext("probes"));
  const workers = [...makeWorkers(parts, services), prober];
  const background = createBackground({ workers, clock, logger });
  for (const group of modules.flatMap((module) => module.metrics?.(wired) ?? [])) {
    metrics.add(group);
  }
  wakeUps.wake = (worker) => {
    background.wake(worker);
    // Every commit that raises an event wakes the relay. The event may change a page that is open.
    if (worker === "relay") services.checkout.live.look();
  };

  const rateLimiter = createRateLimiter(
    {
      credential: config.rateLimitCredentialPerMinute,
      batch: batchesPerMinute,
      exports: exportsPerMinute,
      checkout: config.rateLimitCheckoutPerMinute,
      submit: config.rateLimitSubmitPerMinute,
      verify: verificationsPerMinute,
      link: linkPaymentsPerClient,
      linkInvoices: linkPaymentsPerHour,
      login: config.rateLimitLoginPerMinute,
      session: config.rateLimitSessionPerMinute,
      registration: config.rateLimitRegistrationPerHour,
    },
    config.rateLimitScale,
  );

  const api = {
    gatekeeper: gatekeeperOf(services),
    idempotency: createIdempotency({ db, clock, key: deriveKey(secret, "idempotency-keys") }),
    rateLimiter,
    logger,
    strictAnswers: outside.strictAnswers ?? false,
  };

  return {
    ...services,
    config,
    version: programVersion(),
    background,
    metrics,
    trustedProxies: config.trustProxy.map(parseRange),
    noteForwarding: () => noteForwarding(db, clock),
    baseUrl,
    servers: serving,
    listensAt: serving.listensAt,

    problemPage: makeProblemPage(services.checkout),
    mountables: mountModules(wired, api),

    async start() {
      if (config.databaseUrl === null) {
        // A SQLite store has only one server, so everything that a dead one held can be released at once.
        await services.leases.endAll();
        await services.deliverer.reclaim();
        await db.write(systemContext("jobs"), (tx) => endJobLeases(tx, clock.now()));
      }
      await serving.begin();
      await services.sandbox?.open(systemContext("sandbox"), config.sandboxBlockMs);
      background.start();
    },

    async readiness() {
      // Either read may find that the store is down.
      const providers = await pendingMigrations(db)
        .then((pending) => (pending.length === 0 ? oversight.providers() : null))
        .catch(() => null);
      // The status check writes every ten seconds, so that a store that works again is noticed without requests.
      const store = providers !== null && !isRefusing();
      const lastTick = background.lastTickAt();
      const scheduler = lastTick !== null && clock.now() - lastTick < schedulerSilenceMax;
      return {
        isReady: store && scheduler,
        checks: { store: store ? "ok" : "down", scheduler: scheduler ? "ok" : "down" },
        providers: numbered(store ? providers : []),
      };
    },

    async close() {
      stop.abort();
      await background.stop();
      await services.close();
      await serving.end();
      await db.close();
    },
  };
}

/** Replaces the providers' hosts by their numbers within their network. */
function numbered(
  providers: Awaited<ReturnType<OversightService["providers"]>>,
): Readiness["providers"] {
  return providers.map(({ network, status }, place) => {
    const before = providers.slice(0, place).filter((other) => other.network === network);
    return { network, provider: before.length + 1, status };
  });
}

function gatekeeperOf(services: Services): Gatekeeper {
  return {
    session: (accessToken) => services.sessions.principal(accessToken),
    apiKey: (secret) => services.apiKeys.authenticate(secret),
    membership: (userId, organizationId) => services.sessions.standing(userId, organizationId),
  };
}

/** Returns the context of actions that the program performs on its own. */
function systemContext(label: string): WriteContext {
  return { actor: systemActor(label), requestId: null, ip: null };
}
