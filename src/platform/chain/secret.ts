/** What a person is told who pasted a key: the text itself is never repeated, stored or logged. */
export const secretWarning =
  "This looks like a private key or a seed phrase. Till never needs one: give the public address. " +
  "Whoever has seen the key can take the money, so move it to a new wallet if you pasted the key anywhere else.";

/** 32 bytes are a private key, 64 a seed. */
const hexKey = /(?<![0-9a-z])(?:0x)?(?:[0-9a-f]{64}|[0-9a-f]{128})(?![0-9a-z])/i;
const extendedPrivateKey = /(?<![0-9a-z])[a-z]prv[1-9a-z]{16,}/i;
const phraseWordsMin = 12;
const word = /^[\p{L}\p{M}]+$/u;

/**
 * True for text that may be a private key, an extended private key or a seed phrase. It is asked where an address or
 * an extended public key is expected; a transaction's hash looks like a key, so it is not asked there.
 */
export function looksLikeSecret(text: string): boolean {
  const pasted = text.trim();
  // An explorer's link holds the hash of a transaction, not a key.
  if (/^https?:\/\//i.test(pasted)) return false;
  return hexKey.test(pasted) || extendedPrivateKey.test(pasted) || isPhrase(pasted);
}

/** Words of any language, whatever stands between them; a list that numbers its words is a phrase too. */
function isPhrase(text: string): boolean {
  const words = text
    .split(/[\s,;]+/u)
    .map((part) => part.replace(/^\d+[.:)]*|["'.]+/gu, ""))
    .filter((part) => part !== "");
  return words.length >= phraseWordsMin && words.every((part) => word.test(part));
}
