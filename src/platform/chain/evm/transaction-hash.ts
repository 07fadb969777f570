import { cleanPasted } from "../../../kernel/pasted.ts";
const exact = /^(?:0x)?([0-9a-f]{64})$/i;
const inside = /(?<![0-9a-z])(?:0x)?([0-9a-f]{64})(?![0-9a-z])/gi;
const textLengthMax = 2_048;

/**
 * Parses a transaction hash as a payer pastes it: bare or with 0x, in any case, or an explorer's link that contains
 * exactly one. Returns 64 lower-case hexadecimal digits, or null.
 */
export function parseTransactionHash(text: string): string | null {
  const pasted = cleanPasted(text);
  if (pasted.length > textLengthMax) return null;
  const whole = exact.exec(pasted)?.[1];
  if (whole !== undefined) return whole.toLowerCase();
  if (!pasted.includes("/") || /\s/.test(pasted)) return null;
  const found = new Set(Array.from(pasted.matchAll(inside), (match) => match[1]?.toLowerCase()));
  const [hash, another] = found;
  return hash === undefined || another !== undefined ? null : hash;
}

/** Formats a hash with 0x. Throws unless it is canonical. */
export function formatHash(hash: string): string {
  return `0x${formatBareHash(hash)}`;
}

/** Formats a hash without 0x, as TRON's explorers do. Throws unless it is canonical. */
export function formatBareHash(hash: string): string {
  if (!/^[0-9a-f]{64}$/.test(hash)) throw new TypeError("not a canonical transaction hash");
  return hash;
}
