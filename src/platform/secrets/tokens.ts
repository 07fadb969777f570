import { createHash, createHmac, randomBytes, randomFillSync, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";
import { assert } from "../../kernel/errors.ts";
import type { RandomBytes } from "../../kernel/id.ts";

/** Bytes that are drawn at once, because a call of the system costs more than they do. */
const poolBytes = 4_096;
/** Longer draws do not use the pool. */
const pooledMax = 64;

const pool = Buffer.alloc(poolBytes);
let used = poolBytes;

/** The system's source of randomness; nothing else reads it. */
export const systemRandom: RandomBytes = (length) => {
  if (length > pooledMax) return randomBytes(length);
  if (used + length > poolBytes) {
    randomFillSync(pool);
    used = 0;
  }
  const drawn = Buffer.from(pool.subarray(used, used + length));
  // The pool must not keep what may become a secret.
  pool.fill(0, used, used + length);
  used += length;
  return drawn;
};

/** The kinds of opaque tokens and their prefixes, by which people and secret scanners recognize them. */
export const tokenPrefixes = {
  liveKey: "till_live",
  testKey: "till_test",
  refresh: "till_refresh",
  invitation: "till_invite",
  passwordReset: "till_reset",
} as const;

export type TokenKind = keyof typeof tokenPrefixes;

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const tokenLengthBytes = 32;
/** The length of a proof in characters of 6 bits each. */
const proofLength = 22;
/** The number of base 62 digits that hold 256 bits, and 32 bits. */
const bodyLength = 43;
const checksumLength = 6;
const bodyPattern = new RegExp(
  `^[0-9A-Za-z]{${String(bodyLength)}}[0-9A-Za-z]{${String(checksumLength)}}$`,
);

/**
 * Returns a token of 256 random bits: prefix, `_`, 43 digits and a checksum of six. Show it once and store only its
 * hash.
 */
export function newToken(kind: TokenKind, randomBytes: RandomBytes): string {
  return tokenOf(kind, randomBytes(tokenLengthBytes));
}

/**
 * Returns the kind of a token; null if the text is not a token of these kinds, or was mistyped or truncated. It reads
 * no store, so that guesses are cheap to reject.
 */
export function parseToken<K extends TokenKind>(text: string, ...kinds: readonly K[]): K | null {
  for (const kind of kinds) {
    const start = `${tokenPrefixes[kind]}_`;
    const rest = text.startsWith(start) ? text.slice(start.length) : "";
    if (!bodyPattern.test(rest)) continue;
    if (rest.slice(bodyLength) === checksumOf(text.slice(0, -checksumLength))) return kind;
  }
  return null;
}

/** Returns the hash that the store keeps. A plain SHA-256 suffices for 256 random bits, which cannot be guessed. */
export function hashToken(token: string): string {
  return createHash("sha256").update(token, "utf8").digest("hex");
}

/**
 * Derives the successor of a refresh token from it and from the server's key for refresh tokens. A client that lost a
 * response gets the same token again, although the store keeps only hashes.
 */
export function refreshSuccessor(key: Uint8Array, predecessor: string): string {
  return tokenOf("refresh", createHmac("sha256", key).update(predecessor, "utf8").digest());
}

/** Returns 22 letters and digits that only the holder of a key can derive from a text. */
export function proofOf(key: Uint8Array, text: string): string {
  return createHmac("sha256", key).update(text, "utf8").digest("base64url").slice(0, proofLength);
}

/** Compares two secrets in constant time. */
export function isSameSecret(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text, "utf8").digest();
  return timingSafeEqual(digest(given), digest(expected));
}

function tokenOf(kind: TokenKind, bytes: Uint8Array): string {
  assert(bytes.byteLength === tokenLengthBytes, "A token has 256 bits.");
  const body = base62(BigInt(`0x${Buffer.from(bytes).toString("hex")}`), bodyLength);
  const token = `${tokenPrefixes[kind]}_${body}`;
  return token + checksumOf(token);
}

function checksumOf(text: string): string {
  return base62(BigInt(crc32(text)), checksumLength);
}

function base62(value: bigint, length: number): string {
  let text = "";
  let rest = value;
  for (let index = 0; index < length; index += 1) {
    text = digits.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}
