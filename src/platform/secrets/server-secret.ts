import { createSecretKey, hkdfSync, type KeyObject } from "node:crypto";
import { chmod, link, open, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { defineProblem } from "../../kernel/errors.ts";
import type { RandomBytes } from "../../kernel/id.ts";

/** What every key of this installation derives from. It is opaque, so that no log line can show it. */
export type ServerSecret = KeyObject;

/** Everything that a key is derived for. Keys of two purposes tell nothing about each other. */
export type KeyPurpose =
  | "access-tokens"
  | "refresh-tokens"
  | "webhook-secrets"
  | "event-cursors"
  | "idempotency-keys"
  | "fingerprint";

export interface SecretSource {
  /** The secret itself, as the environment gives it; it goes before a file. */
  readonly text: string | null;
  /** A file that holds it. */
  readonly file: string | null;
  /** The data folder, which must exist: the secret is made there on first use. Null: it must be given. */
  readonly dataFolder: string | null;
  /** False where a store is there already: a secret made now could not be its own. */
  readonly mayMake?: boolean;
  readonly randomBytes: RandomBytes;
}

/** The server cannot start: the secret is missing, too short or unreadable. */
export const SecretUnusable = defineProblem({
  code: "secret_unusable",
  status: 500,
  title: "The server's secret cannot be used",
});

const secretLengthMin = 32;
const keyLength = 32;
const fileName = "secret";

/**
 * Finds the server's secret, or makes one of 256 random bits in the data folder, in a file that only its owner reads.
 * Processes that start at once end with the same one.
 * @throws SecretUnusable
 */
export async function loadServerSecret(source: SecretSource): Promise<ServerSecret> {
  if (source.text !== null) return parseSecret(source.text, "TILL_SECRET");
  if (source.file !== null) return parseSecret(await readSecret(source.file), source.file);
  if (source.dataFolder === null) {
    throw new SecretUnusable(
      "Set TILL_SECRET or TILL_SECRET_FILE: processes that share a database need the same secret. " +
        "Make one with: openssl rand -base64 32",
    );
  }
  const path = join(source.dataFolder, fileName);
  if (await exists(path)) await closeToOthers(path);
  else if (source.mayMake !== false) await create(path, source.randomBytes);
  return parseSecret(await readSecret(path), path);
}

/** A key of 256 bits for one purpose; the same secret gives the same key. */
export function deriveKey(secret: ServerSecret, purpose: KeyPurpose): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, "till", `till:${purpose}:1`, keyLength));
}

/** Says which secret a store was made with, and nothing about the secret: 32 hexadecimal digits. */
export function fingerprint(secret: ServerSecret): string {
  return Buffer.from(deriveKey(secret, "fingerprint")).toString("hex").slice(0, 32);
}

function parseSecret(text: string, origin: string): ServerSecret {
  const bytes = Buffer.from(text.trim(), "utf8");
  if (bytes.byteLength < secretLengthMin) {
    throw new SecretUnusable(
      `The secret in ${origin} has ${String(bytes.byteLength)} bytes; it needs ${String(secretLengthMin)} or more. ` +
        "Make one with: openssl rand -base64 32",
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
 * The whole file appears under its name at once, or not at all: a link to a finished file is made only where there is
 * none, so of two processes one wins, and the loser reads the winner's.
 */
async function create(path: string, randomBytes: RandomBytes): Promise<void> {
  const draft = `${path}.${Buffer.from(randomBytes(8)).toString("hex")}`;
  try {
    const file = await open(draft, "wx", 0o600);
    try {
      await file.writeFile(`${Buffer.from(randomBytes(keyLength)).toString("base64url")}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await link(draft, path);
  } catch (cause) {
    if (codeOf(cause) === "EEXIST") return;
    throw new SecretUnusable(
      `Cannot make the secret in ${path}: ${reasonOf(cause)}. Set TILL_SECRET or TILL_SECRET_FILE instead.`,
      { cause },
    );
  } finally {
    await rm(draft, { force: true });
  }
  await syncFolder(join(path, ".."));
}

/** Makes the new name survive a power cut. Not every system lets a folder be opened. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r").catch(() => null);
  if (folder === null) return;
  await folder.sync().catch(() => undefined);
  await folder.close();
}

/** A copy or a restore may have widened the mode; a file of another owner is left as it is. */
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
    ENOENT: "there is no such file or folder",
    EACCES: "permission is denied",
    EISDIR: "it is a folder",
    ENOSPC: "the disk is full",
    EROFS: "the disk is read-only",
  };
  return reasons[code] ?? code;
}
