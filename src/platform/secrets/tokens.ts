import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";
import { assert } from "../../kernel/errors.ts";
import type { RandomBytes } from "../../kernel/id.ts";

/** Every kind of opaque token and what it begins with, so that people and leak scanners know one by sight. */
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
/** How many base 62 digits hold 256 bits, and 32. */
const bodyLength = 43;
const checksumLength = 6;
const bodyPattern = new RegExp(
  `^[0-9A-Za-z]{${String(bodyLength)}}[0-9A-Za-z]{${String(checksumLength)}}$`,
);

/** A token of 256 random bits: prefix, `_`, 43 digits, and a checksum of six. Show it once and store its hash. */
export function newToken(kind: TokenKind, randomBytes: RandomBytes): string {
  return tokenOf(kind, randomBytes(tokenLengthBytes));
}

/**
 * Which of the kinds a text is a token of; null when it is none, or was mistyped or cut. It asks no store, so that
 * guesses cost nothing.
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

/** What the store keeps of a token. A plain hash is enough for 256 random bits: there is nothing to guess. */
export function hashToken(token: string): string {
  return createHash("sha256").update(token, "utf8").digest("hex");
}

/**
 * The refresh token that replaces another. It follows from its predecessor and the server's key for refresh tokens, so
 * that a caller who lost the answer gets the same one again, although the store holds only hashes.
 */
export function refreshSuccessor(key: Uint8Array, predecessor: string): string {
  return tokenOf("refresh", createHmac("sha256", key).update(predecessor, "utf8").digest());
}

/** Compares two secrets in a time that does not tell where they differ. */
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
  for (let place = 0; place < length; place += 1) {
    text = digits.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}
