import { createSecretKey, hkdfSync, type KeyObject } from "node:crypto";
import { chmod, link, open, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { defineProblem } from "../../kernel/errors.ts";
import type { RandomBytes } from "../../kernel/id.ts";

/**
 * The secret from which all keys of this installation are derived. It is an opaque object, so that no log line can
 * contain it.
 */
export type ServerSecret = KeyObject;

/** The purposes for which keys are derived. A key for one purpose reveals nothing about another. */
type KeyPurpose =
  | "access-tokens"
  | "refresh-tokens"
  | "webhook-secrets"
  | "event-cursors"
  | "idempotency-keys"
  | "audit-seals"
  | "receipts"
  | "refund-forms"
  | "backups"
  | "fingerprint"
  | "keyed-store-fingerprint";

export interface SecretSource {
  /** The secret from the environment; it overrides the file. */
  readonly text: string | null;
  /** The path of a file that contains the secret. */
  readonly file: string | null;
  /** The data folder, which must exist; a secret is generated there on first use. Null: the secret must be given. */
  readonly dataFolder: string | null;
  /** False if a store exists already: a new secret would not match it. */
  readonly mayMake?: boolean;
  readonly randomBytes: RandomBytes;
}

/** Thrown if the secret is missing, too short or unreadable; the server cannot start. */
export const SecretUnusable = defineProblem({
  code: "secret_unusable",
  status: 500,
  title: "The server's secret cannot be used",
});

const secretLengthMin = 32;
const keyLength = 32;
const fileName = "secret";

/**
 * Loads the server's secret, or generates one of 256 random bits in the data folder, in a file that only its owner can
 * read. Processes that start at the same time end up with the same one.
 * @throws SecretUnusable
 */
export async function loadServerSecret(source: SecretSource): Promise<ServerSecret> {
  if (source.text !== null) return parseSecret(source.text, "TILL_SECRET");
  if (source.file !== null) return parseSecret(await readSecret(source.file), source.file);
  if (source.dataFolder === null) {
    throw new SecretUnusable(
      "Set TILL_SECRET or TILL_SECRET_FILE: processes that share a database need the same secret. " +
        "Generate one with: openssl rand -base64 32",
    );
  }
  const path = join(source.dataFolder, fileName);
  if (await exists(path)) await closeToOthers(path);
  else if (source.mayMake !== false) await create(path, source.randomBytes);
  return parseSecret(await readSecret(path), path);
}

/**
 * Derives a 256-bit key for a purpose; the same secret gives the same key. Keys that can be replaced have a generation,
 * counted from 1.
 */
export function deriveKey(secret: ServerSecret, purpose: KeyPurpose, generation = 1): Uint8Array {
  const info = `till:${purpose}:${String(generation)}`;
  return new Uint8Array(hkdfSync("sha256", secret, "till", info, keyLength));
}

/** Returns 32 hexadecimal digits that identify the secret of a store and reveal nothing about it. */
export function fingerprint(secret: ServerSecret): string {
  return Buffer.from(deriveKey(secret, "keyed-store-fingerprint")).toString("hex").slice(0, 32);
}

/**
 * The fingerprint in stores of releases that sealed audit entries without a key. Only they have it: a store shows by it
 * that it is that old, and nobody can make it who does not have the secret.
 */
export function formerFingerprint(secret: ServerSecret): string {
  return Buffer.from(deriveKey(secret, "fingerprint")).toString("hex").slice(0, 32);
}

/** Returns the text of a secret, for a copy of it that an operator asked for. */
export function secretText(secret: ServerSecret): string {
  return secret.export().toString("utf8");
}

/** Parses the text of a secret from `origin`, which names it in messages. @throws SecretUnusable */
export function parseSecret(text: string, origin: string): ServerSecret {
  const bytes = Buffer.from(text.trim(), "utf8");
  if (bytes.byteLength < secretLengthMin) {
    throw new SecretUnusable(
      `The secret in ${origin} has ${String(bytes.byteLength)} bytes; it needs at least ${String(secretLengthMin)}. ` +
        "Generate one with: openssl rand -base64 32",
    );
  }
  return createSecretKey(bytes);
}

async function readSecret(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new SecretUnusable(`Cannot read the secret from ${path}: ${reasonOf(cause)}.`, { cause });
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/**
 * Creates the file atomically: it is written under a temporary name and then linked to its final one, which fails if
 * that exists. Of two processes one succeeds, and the other reads its secret.
 */
async function create(path: string, randomBytes: RandomBytes): Promise<void> {
  const partial = `${path}.${Buffer.from(randomBytes(8)).toString("hex")}`;
  try {
    const file = await open(partial, "wx", 0o600);
    try {
      await file.writeFile(`${Buffer.from(randomBytes(keyLength)).toString("base64url")}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await link(partial, path);
  } catch (cause) {
    if (codeOf(cause) === "EEXIST") return;
    throw new SecretUnusable(
      `Cannot create the secret in ${path}: ${reasonOf(cause)}. Set TILL_SECRET or TILL_SECRET_FILE instead.`,
      { cause },
    );
  } finally {
    await rm(partial, { force: true });
  }
  await syncFolder(join(path, ".."));
}

/** Flushes the new directory entry to disk. Not every system allows opening a folder. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r").catch(() => null);
  if (folder === null) return;
  await folder.sync().catch(() => undefined);
  await folder.close();
}

/**
 * Restricts the file to its owner, because a copy or restore may have widened its mode. A file of another owner is left
 * unchanged.
 */
async function closeToOthers(path: string): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & 0o077) !== 0) await chmod(path, 0o600).catch(() => undefined);
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : "unknown error";
}

function reasonOf(error: unknown): string {
  const code = codeOf(error);
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: "the file or folder does not exist",
    EACCES: "permission is denied",
    EISDIR: "it is a folder",
    ENOSPC: "the disk is full",
    EROFS: "the disk is read-only",
  };
  return reasons[code] ?? code;
}
