import { cleanPasted } from "../../kernel/text.ts";
/** The warning to a person who pasted a key. The key itself is never repeated, stored or logged. */
export const secretWarning =
  "This looks like a private key or a seed phrase. Till never needs one: enter the public address. " +
  "Anyone who has seen the key can take the money: if you pasted it anywhere else, move the money to a new wallet.";

/** A private key has 32 bytes, a seed 64. */
const hexKey = /(?<![0-9a-z])(?:0x)?(?:[0-9a-f]{64}|[0-9a-f]{128})(?![0-9a-z])/i;
const extendedPrivateKey = /(?<![0-9a-z])[a-z]prv[1-9a-z]{16,}/i;
const phraseWordsMin = 12;
const word = /^[\p{L}\p{M}]+$/u;

/**
 * True for text that may be a private key, an extended private key or a seed phrase. Used where an address or an
 * extended public key is expected, but not for transaction hashes, which look like keys.
 */
export function looksLikeSecret(text: string): boolean {
  const pasted = cleanPasted(text);
  // A link to an explorer contains a transaction hash, not a key.
  if (/^https?:\/\//i.test(pasted)) return false;
  return hexKey.test(pasted) || extendedPrivateKey.test(pasted) || isPhrase(pasted);
}

/** True for a list of words in any language, with any separators, numbered or not. */
function isPhrase(text: string): boolean {
  const words = text
    .split(/[\s,;]+/u)
    .map((part) => part.replace(/^\d+[.:)]*|["'.]+/gu, ""))
    .filter((part) => part !== "");
  return words.length >= phraseWordsMin && words.every((part) => word.test(part));
}
