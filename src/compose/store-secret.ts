import { isInitialized } from "../features/admin/installation.ts";
import { defineProblem } from "../kernel/errors.ts";
import type { RandomBytes } from "../kernel/id.ts";
import { formatHead } from "../platform/audit/chain.ts";
import { beginChain, keyChain } from "../platform/audit/head.ts";
import type { Config } from "../platform/config/config.ts";
import { systemContext, type Database, type Reader } from "../platform/database/database.ts";
import { meta } from "../platform/database/schema/table.ts";
import type { Logger } from "../platform/logger/index.ts";
import {
  deriveKey,
  fingerprint,
  formerFingerprint,
  loadServerSecret,
  type ServerSecret,
} from "../platform/secrets/server-secret.ts";
import { storeBehind, storeName, type StoreLocation } from "./store-location.ts";

const WrongSecret = defineProblem({
  code: "wrong_secret",
  status: 409,
  title: "The secret does not belong to the store",
});

/**
 * Throws WrongSecret unless the store was created with this secret. A new store gets the secret's fingerprint and an
 * empty audit chain. A store of an earlier release without keyed seals is converted, except in mode `use`.
 */
export async function requireFittingSecret(
  db: Database,
  location: StoreLocation,
  mode: "migrate" | "use",
  secret: ServerSecret,
  logger: Logger,
): Promise<void> {
  const own = fingerprint(secret);
  const former = formerFingerprint(secret);
  let known = await secretOf(db);
  if (known === null) known = await rememberSecret(db, secret);
  if (known === former) {
    if (mode === "use") throw storeBehind(location, "keyed audit seals");
    known = await resumeStore(db, secret, logger);
  }
  if (known === own) return;
  throw wrongSecret(`the store ${storeName(location)}`, "the store");
}

/** Throws WrongSecret if a store of any migration level was created with another secret. Writes nothing. */
export async function requireSecretOf(
  reader: Reader,
  location: StoreLocation,
  secret: ServerSecret,
): Promise<void> {
  const known = await secretOf(reader);
  if (known === null || known === fingerprint(secret) || known === formerFingerprint(secret))
    return;
  throw wrongSecret(`the store ${storeName(location)}`, "the store");
}

/** Returns the error for a secret that does not belong to `subject`; `short` repeats it. */
export function wrongSecret(subject: string, short: string): Error {
  return new WrongSecret(
    `This secret does not belong to ${subject}. Set TILL_SECRET or TILL_SECRET_FILE to the secret with which ${short} was created.`,
  );
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

/** The name of the fact of a store that tells the fingerprint of its secret. */
const secretFact = "secret_fingerprint";

/** Returns the fingerprint of the secret with which a store was created; null if the store is not complete. */
export async function secretOf(reader: Reader): Promise<string | null> {
  return (await reader.findOne(meta, "WHERE name = $1", [secretFact]))?.value ?? null;
}

/** Loads the secret of the configured store. @throws SecretUnusable */
export function secretFor(
  config: Config,
  mayMake: boolean,
  randomBytes: RandomBytes,
): Promise<ServerSecret> {
  return loadServerSecret({
    text: config.secret,
    file: config.secretFile,
    dataFolder: config.databaseUrl === null ? config.dataDir : null,
    mayMake,
    randomBytes,
  });
}
