import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { systemActor } from "../kernel/actor.ts";
import type { Clock } from "../kernel/clock.ts";
import { defineProblem } from "../kernel/errors.ts";
import type { RandomBytes } from "../kernel/id.ts";
import type { Config } from "../platform/config/index.ts";
import {
  migrate,
  openDatabase,
  pendingMigrations,
  type Database,
  type Reader,
} from "../platform/database/index.ts";
import { meta } from "../platform/database/meta.ts";
import type { Logger } from "../platform/logger/index.ts";
import {
  fingerprint,
  loadServerSecret,
  type ServerSecret,
} from "../platform/secrets/server-secret.ts";

export const NoStore = defineProblem({
  code: "no_store",
  status: 404,
  title: "There is no store here",
});
export const StoreBehind = defineProblem({
  code: "store_behind",
  status: 409,
  title: "The store is older than this program",
});
export const WrongSecret = defineProblem({
  code: "wrong_secret",
  status: 409,
  title: "The secret does not fit the store",
});

/** `create`: make what is missing and migrate. `migrate`: a store must be there. `use`: it must be up to date too. */
export type StoreMode = "create" | "migrate" | "use";

const secretFact = "secret_fingerprint";

/** Where the SQLite store of a configuration lies. */
export function storeFile(config: Config): string {
  return join(config.dataDir, "till.db");
}

/** How messages name the store; never with its password. */
export function storeName(config: Config): string {
  if (config.databaseUrl === null) return storeFile(config);
  const { host, pathname } = new URL(config.databaseUrl);
  return `postgres://${host}${pathname}`;
}

export interface Store {
  readonly db: Database;
  readonly secret: ServerSecret;
}

/** Opens the store that the settings name, and the secret that fits it. */
export async function openStore(
  config: Config,
  mode: StoreMode,
  deps: { readonly clock: Clock; readonly logger: Logger; readonly randomBytes: RandomBytes },
): Promise<Store> {
  if (mode === "create") await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  if (mode !== "create" && config.databaseUrl === null) await requireFile(storeFile(config));
  const secret = await loadServerSecret({
    text: config.secret,
    file: config.secretFile,
    dataFolder: config.databaseUrl === null ? config.dataDir : null,
    randomBytes: deps.randomBytes,
  });
  const db = await openDatabase({
    ...(config.databaseUrl === null
      ? { sqliteFile: storeFile(config) }
      : { url: config.databaseUrl }),
    logger: deps.logger,
  });
  try {
    await prepare(db, config, mode, secret, deps.clock);
    return { db, secret };
  } catch (error) {
    await db.close();
    throw error;
  }
}

async function requireFile(path: string): Promise<void> {
  const found = await stat(path).then(
    (entry) => entry.isFile(),
    () => false,
  );
  if (!found) {
    throw new NoStore(
      `There is no store at ${path}. Make one with till init, or set TILL_DATA_DIR.`,
    );
  }
}

async function prepare(
  db: Database,
  config: Config,
  mode: StoreMode,
  secret: ServerSecret,
  clock: Clock,
): Promise<void> {
  if (mode === "use") {
    const pending = await pendingMigrations(db);
    if (pending.length > 0) {
      throw new StoreBehind(
        `The store ${storeName(config)} lacks ${String(pending.length)} migrations. Run till db migrate, or start the server.`,
      );
    }
  } else {
    await migrate(db, clock);
  }
  await requireFittingSecret(db, config, secret);
}

/** What is sealed under one secret cannot be opened with another: a store remembers whose it is. */
async function requireFittingSecret(
  db: Database,
  config: Config,
  secret: ServerSecret,
): Promise<void> {
  const own = fingerprint(secret);
  const known = (await secretOf(db)) ?? (await rememberSecret(db, own));
  if (known === own) return;
  throw new WrongSecret(
    `The secret does not belong to the store ${storeName(config)}. Give the one that the store was made with in TILL_SECRET or TILL_SECRET_FILE.`,
  );
}

async function secretOf(reader: Reader): Promise<string | null> {
  return (await reader.findOne(meta, "WHERE name = $1", [secretFact]))?.value ?? null;
}

async function rememberSecret(db: Database, value: string): Promise<string> {
  const context = { actor: systemActor("store"), requestId: null, ip: null };
  return db.write(context, async (tx) => {
    await tx.insertIfAbsent(meta, { name: secretFact, value });
    return (await secretOf(tx)) ?? value;
  });
}
