import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import { Defect } from "../../kernel/errors.ts";
import { systemRandom } from "./tokens.ts";

/**
 * A sealed text is the base64url of a version byte, the salt (only for a phrase), a nonce, the ciphertext and the tag
 * (AES-256-GCM).
 */
const keyVersion = 1;
const phraseVersion = 2;
const keyLength = 32;
const nonceLength = 12;
const tagLength = 16;
const saltLength = 16;

/** Thrown if a sealed text was altered, truncated, moved to another row or column, or sealed with another key. */
export class SealBroken extends Defect {}

/**
 * Encrypts a short text with a key from `deriveKey`. Opening requires the same associated data: pass the row and column
 * (`webhook_endpoints:wep_…:secret`), so that the text cannot be moved to another.
 */
export function seal(key: Uint8Array, text: string, associatedData: string): string {
  const header = Buffer.from([keyVersion]);
  return Buffer.concat([header, encrypt(key, text, header, associatedData)]).toString("base64url");
}

/** @throws SealBroken */
export function open(key: Uint8Array, sealed: string, associatedData: string): string {
  const bytes = Buffer.from(sealed, "base64url");
  const header = bytes.subarray(0, 1);
  if (header[0] !== keyVersion) throw broken();
  return decrypt(key, bytes.subarray(1), header, associatedData);
}

/**
 * Encrypts a text with a key that is derived from a phrase which the caller holds and the store does not, such as an
 * Idempotency-Key. It is only as secret as the phrase is hard to guess.
 */
export function sealWithPhrase(phrase: string, text: string, associatedData = ""): string {
  const header = Buffer.concat([Buffer.from([phraseVersion]), systemRandom(saltLength)]);
  const key = phraseKey(phrase, header.subarray(1));
  return Buffer.concat([header, encrypt(key, text, header, associatedData)]).toString("base64url");
}

/** @throws SealBroken */
export function openWithPhrase(phrase: string, sealed: string, associatedData = ""): string {
  const bytes = Buffer.from(sealed, "base64url");
  const header = bytes.subarray(0, 1 + saltLength);
  if (header[0] !== phraseVersion) throw broken();
  const key = phraseKey(phrase, header.subarray(1));
  return decrypt(key, bytes.subarray(1 + saltLength), header, associatedData);
}

function encrypt(
  key: Uint8Array,
  text: string,
  header: Uint8Array,
  associatedData: string,
): Uint8Array {
  const nonce = systemRandom(nonceLength);
  const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: tagLength });
  cipher.setAAD(authenticated(header, associatedData));
  const encrypted = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([nonce, encrypted, cipher.getAuthTag()]);
}

function decrypt(
  key: Uint8Array,
  bytes: Uint8Array,
  header: Uint8Array,
  associatedData: string,
): string {
  if (bytes.byteLength < nonceLength + tagLength) throw broken();
  const tagStart = bytes.byteLength - tagLength;
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, nonceLength), {
    authTagLength: tagLength,
  });
  decipher.setAAD(authenticated(header, associatedData));
  decipher.setAuthTag(bytes.subarray(tagStart));
  try {
    const text = decipher.update(bytes.subarray(nonceLength, tagStart));
    return Buffer.concat([text, decipher.final()]).toString("utf8");
  } catch {
    throw broken();
  }
}

function authenticated(header: Uint8Array, associatedData: string): Uint8Array {
  return Buffer.concat([header, Buffer.from(associatedData, "utf8")]);
}

function phraseKey(phrase: string, salt: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", phrase, salt, "till:phrase:1", keyLength));
}

function broken(): SealBroken {
  return new SealBroken(
    "A sealed text cannot be opened: the text, its associated data or the key has changed.",
  );
}
