import { mkdir } from "node:fs/promises";
import { alreadyInitialized, isInitialized } from "../features/admin/index.ts";
import { toIso, type Clock } from "../kernel/clock.ts";
import { defineProblem } from "../kernel/errors.ts";
import type { RandomBytes } from "../kernel/id.ts";
import { formatHead } from "../platform/audit/chain.ts";
import { beginChain, keyChain } from "../platform/audit/head.ts";
import type { Config } from "../platform/config/index.ts";
import {
  currentVersion,
  migrate,
  openDatabase,
  pendingMigrations,
  type Database,
  type Migration,
  type Reader,
} from "../platform/database/index.ts";
import { meta } from "../platform/database/schema/meta.ts";
import { copySqlite } from "../platform/database/sqlite/copy.ts";
import { systemContext } from "../platform/database/system-context.ts";
import { heldLeases } from "../platform/jobs/leases.ts";
import type { Logger } from "../platform/logger/index.ts";
import {
  deriveKey,
  fingerprint,
  formerFingerprint,
  loadServerSecret,
  type ServerSecret,
} from "../platform/secrets/server-secret.ts";
import { noStore, requireStoreFile, storeBehind, storeFile, storeName } from "./store-place.ts";

const WrongSecret = defineProblem({
  code: "wrong_secret",
  status: 409,
  title: "The secret does not belong to the store",
});

/**
 * `create`: creates what is missing and migrates. `initialize`: the same, but first refuses a store that is already
 * initialized. `migrate`: requires a store and migrates it. `use`: requires a store that is up to date.
 */
export type StoreMode = "create" | "initialize" | "migrate" | "use";

const secretFact = "secret_fingerprint";

export interface Store {
  readonly db: Database;
  readonly secret: ServerSecret;
  /** Migrations applied on opening. */
  readonly migrations: readonly Migration[];
  /** Path of the copy of the SQLite store made before the migration; null if none was needed. */
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
  },
): Promise<Store> {
  const mayMake = mode === "create" || mode === "initialize";
  if (mayMake) await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  else await requireStoreFile(config);
  const secret = await loadServerSecret({
    text: config.secret,
    file: config.secretFile,
    dataFolder: config.databaseUrl === null ? config.dataDir : null,
    mayMake,
    randomBytes: deps.randomBytes,
  });
  const db = await openDatabase({
    ...(config.databaseUrl === null
      ? { sqliteFile: storeFile(config) }
      : { url: config.databaseUrl, connections: config.databasePoolMax }),
    logger: deps.logger,
    refusesNesting: deps.refusesNesting ?? false,
  });
  try {
    const { migrations, backup } = await prepare(db, config, mode, deps);
    await requireFittingSecret(db, config, mode, secret, deps.logger);
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
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Promise<Pick<Store, "migrations" | "backup">> {
  const version = await currentVersion(db);
  const isMade = version > 0;
  if (!isMade && (mode === "migrate" || mode === "use")) throw noStore(config);
  if (isMade && mode === "initialize" && (await isInitialized(db))) throw alreadyInitialized();
  const pending = await pendingMigrations(db);
  if (pending.length === 0) return { migrations: [], backup: null };
  if (mode === "use") throw storeBehind(config, pending.length);
  if (isMade && config.databaseUrl !== null) await warnOfOthers(db, clock, logger);
  // A store about to be initialized is incomplete or being created by another process, so there is nothing to back up.
  const isUsed = isMade && mode !== "initialize";
  const backup = isUsed ? await backUp(config, version, clock) : null;
  if (backup !== null) logger.info({ backup }, "the store was copied before it is migrated");
  return { migrations: await migrate(db, clock), backup };
}

/**
 * Warns of a server that still runs on a PostgreSQL store about to be migrated: it knows the old schema only, and keeps
 * its leases while its work fails. A stopped server has released them; those of a killed one end within two minutes.
 */
async function warnOfOthers(db: Database, clock: Clock, logger: Logger): Promise<void> {
  const leases = [...(await heldLeases(db, clock.now()))].sort();
  if (leases.length === 0) return;
  logger.warn(
    { leases },
    "the store is migrated while another server seems to run on it: stop every server of the earlier version, or " +
      "networks stay unread",
  );
}

/** Copies a SQLite store to the same folder. Backups of a PostgreSQL database are up to its operator. */
async function backUp(config: Config, version: number, clock: Clock): Promise<string | null> {
  if (config.databaseUrl !== null) return null;
  const moment = toIso(clock.now()).replaceAll(/[^0-9TZ]/g, "");
  const target = `${storeFile(config)}.before-migration-v${String(version)}-${moment}`;
  await copySqlite(storeFile(config), target);
  return target;
}

/**
 * Throws WrongSecret unless the store was created with this secret. A new store gets the secret's fingerprint and an
 * empty audit chain. A store of an earlier release without keyed seals is converted, except in mode `use`.
 */
async function requireFittingSecret(
  db: Database,
  config: Config,
  mode: StoreMode,
  secret: ServerSecret,
  logger: Logger,
): Promise<void> {
  const own = fingerprint(secret);
  const former = formerFingerprint(secret);
  let known = await secretOf(db);
  if (known === null) known = await rememberSecret(db, secret);
  if (known === former) {
    if (mode === "use") throw storeBehind(config, "keyed audit seals");
    known = await resumeStore(db, secret, logger);
  }
  if (known === own) return;
  throw new WrongSecret(
    `This secret does not belong to the store ${storeName(config)}. Set TILL_SECRET or TILL_SECRET_FILE to the secret with which the store was created.`,
  );
}

async function secretOf(reader: Reader): Promise<string | null> {
  return (await reader.findOne(meta, "WHERE name = $1", [secretFact]))?.value ?? null;
}

async function rememberSecret(db: Database, secret: ServerSecret): Promise<string | null> {
  return db.write(systemContext("store"), async (tx) => {
    const value = fingerprint(secret);
    const isFirst = await tx.insertIfAbsent(meta, { name: secretFact, value });
    // A store in use without a fingerprint was tampered with, so a missing chain is not replaced.
    if (isFirst && !(await isInitialized(tx))) await beginChain(tx, auditKey(secret));
    return secretOf(tx);
  });
}

/** Switches a store of an earlier release to keyed seals, once, and returns the stored fingerprint. */
async function resumeStore(
  db: Database,
  secret: ServerSecret,
  logger: Logger,
): Promise<string | null> {
  const own = fingerprint(secret);
  const { known, last } = await db.write(systemContext("store"), async (tx) => {
    const row = await tx.lockOne(meta, "WHERE name = $1", [secretFact]);
    // Another process has already converted the store.
    if (row?.value !== formerFingerprint(secret)) return { known: row?.value ?? null, last: null };
    const unkeyed = await keyChain(tx, auditKey(secret));
    await tx.update(meta, { value: own }, "WHERE name = $1", [secretFact]);
    return { known: own, last: unkeyed };
  });
  if (last !== null) {
    logger.warn(
      { head: formatHead(last) },
      "audit entries up to this head were sealed without a key, by an earlier release; later ones are sealed with it",
    );
  }
  return known;
}

function auditKey(secret: ServerSecret): Uint8Array {
  return deriveKey(secret, "audit-seals");
}
