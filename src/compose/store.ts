import { mkdir } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { alreadyInitialized, isInitialized } from "../features/admin/installation.ts";
import { platformOrganizationId } from "../features/organizations/store.ts";
import { minute, type Clock } from "../kernel/clock.ts";
import type { RandomBytes } from "../kernel/id.ts";
import type { Progress } from "../platform/progress.ts";
import type { Config } from "../platform/config/config.ts";
import { currentVersion, type Migration } from "../platform/database/schema/migrate.ts";
import { migrate, pendingMigrations } from "../platform/database/schema.ts";
import { openDatabase } from "../platform/database/open.ts";
import type { Database } from "../platform/database/database.ts";
import { StoreInUse } from "../platform/database/transfer/new-store.ts";
import { leaseLifeMax, liveLeases } from "../platform/jobs/leases.ts";
import type { Logger } from "../platform/logger/index.ts";
import type { ServerSecret } from "../platform/secrets/server-secret.ts";
import { noStore, requireStoreFile, storeBehind, storeFile, storeName } from "./store-location.ts";
import { requireFittingSecret, requireSecretOf, secretFor } from "./store-secret.ts";

/**
 * `create`: creates what is missing and migrates. `initialize`: the same, but first refuses a store that is already
 * initialized. `migrate`: requires a store and migrates it. `use`: requires a store that is up to date.
 */
export type StoreMode = "create" | "initialize" | "migrate" | "use";

/** How long to wait for servers to stop, in milliseconds: their clocks may be a little ahead. */
const patienceMs = leaseLifeMax + minute;
/** How often to read whether the servers on a store have stopped, in milliseconds. */
const pollMs = 250;

interface Store {
  readonly db: Database;
  readonly secret: ServerSecret;
  /** Migrations applied on opening. */
  readonly migrations: readonly Migration[];
  /** Path of the backup made before the migration; null if none was needed. */
  readonly backup: string | null;
}

/** Opens the configured store with its secret. */
export async function openStore(
  config: Config,
  mode: StoreMode,
  deps: {
    readonly clock: Clock;
    readonly logger: Logger;
    readonly randomBytes: RandomBytes;
    /** As for `openDatabase`. */
    readonly refusesNesting?: boolean;
    readonly progress?: Progress;
    /** Ends the wait for servers of an earlier version; its reason is then thrown. */
    readonly starting?: AbortSignal;
  },
): Promise<Store> {
  const mayMake = mode === "create" || mode === "initialize";
  if (mayMake) await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  else await requireStoreFile(config);
  const secret = await secretFor(config, mayMake, deps.randomBytes);
  const db = await openDatabase({
    ...(config.databaseUrl === null
      ? { sqliteFile: storeFile(config) }
      : { url: config.databaseUrl, connections: config.databasePoolMax }),
    logger: deps.logger,
    refusesNesting: deps.refusesNesting ?? false,
  });
  try {
    const { migrations, backup } = await prepare(db, config, mode, secret, deps);
    await requireFittingSecret(db, config, mode === "use" ? mode : "migrate", secret, deps.logger);
    return { db, secret, migrations, backup };
  } catch (error) {
    await db.close();
    throw error;
  }
}

async function prepare(
  db: Database,
  config: Config,
  mode: StoreMode,
  secret: ServerSecret,
  deps: {
    readonly clock: Clock;
    readonly logger: Logger;
    readonly progress?: Progress;
    readonly starting?: AbortSignal;
  },
): Promise<Pick<Store, "migrations" | "backup">> {
  const { clock, logger, progress } = deps;
  const version = await currentVersion(db);
  const isMade = version > 0;
  if (!isMade && (mode === "migrate" || mode === "use")) throw noStore(config);
  if (isMade && mode === "initialize" && (await isInitialized(db))) throw alreadyInitialized();
  let pending = await pendingMigrations(db);
  if (pending.length === 0) return { migrations: [], backup: null };
  if (mode === "use") throw storeBehind(config, pending.length);
  if (isMade) await requireSecretOf(db, config, secret);
  if (isMade && config.databaseUrl !== null) {
    pending = await waitForEarlierServers(db, config, deps);
    if (pending.length === 0) return { migrations: [], backup: null };
  }
  // A store about to be initialized is incomplete or being created by another process, so there is nothing to back up.
  const isUsed = isMade && mode !== "initialize";
  const isWanted = isUsed && config.backupBeforeMigration;
  let backup: string | null = null;
  if (isWanted) {
    const { backUpBeforeMigration } = await import("./backup/before-migration.ts");
    const instance = await platformOrganizationId(db);
    backup = await backUpBeforeMigration(config, secret, { version, instance }, clock, progress);
  }
  if (backup !== null) logger.info({ backup }, "the store was backed up before it is migrated");
  return { migrations: await migrate(db, clock, progress), backup };
}

/**
 * Waits until no server of an earlier version runs on a PostgreSQL store about to be migrated: it would go on to write
 * rows as the old schema wants them. A stopped server has released its leases; those of a killed one end.
 * @returns the migrations that are pending then, because another server of this version may have applied them
 * @throws StoreInUse if a server goes on to hold its leases
 */
async function waitForEarlierServers(
  db: Database,
  config: Config,
  {
    clock,
    logger,
    starting,
  }: { readonly clock: Clock; readonly logger: Logger; readonly starting?: AbortSignal },
): Promise<readonly Migration[]> {
  const begunAt = clock.now();
  for (let polls = 0; ; polls += 1) {
    const pending = await pendingMigrations(db);
    if (pending.length === 0) return pending;
    const now = clock.now();
    const leases = await liveLeases(db, now);
    if (leases.length === 0) return pending;
    if (now - begunAt > patienceMs) {
      throw new StoreInUse(
        `The store ${storeName(config)} has to be migrated, and servers of an earlier version run on it: they hold ${leases.join(", ")}. ` +
          "It is unchanged. Stop all of them, and start this one again.",
      );
    }
    if (polls === 0)
      logger.warn(
        { leases },
        "the store has to be migrated: waiting until its servers have stopped",
      );
    await delay(pollMs);
    starting?.throwIfAborted();
  }
}
