import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { createBase58check } from "@scure/base";
import { cleanPasted } from "../../../kernel/pasted.ts";
import { nonZero, refuse, remembered } from "../evm/address.ts";
import type { ParsedAddress } from "../networks.ts";

const base58check = createBase58check(sha256);
const prefix = 0x41;
/** The shape also bounds the length: decoding base58 takes time quadratic in it. */
const shape = /^T[1-9A-HJ-NP-Za-km-z]{33}$/;

const expected =
  "A TRON address starts with T and has 34 letters and digits. Copy it again from your wallet.";

/** Parses a Base58Check address (`T…`) to the 20 bytes that EVM addresses have too. */
export function parseAddress(text: string): ParsedAddress {
  const pasted = cleanPasted(text);
  if (!shape.test(pasted)) return refuse("malformed", expected);
  const bytes = decode(pasted);
  if (bytes === null) {
    return refuse(
      "checksum",
      "The address has a mistyped letter: its checksum does not match. Copy it again from your wallet.",
    );
  }
  if (bytes.length !== 21 || bytes[0] !== prefix) return refuse("malformed", expected);
  return nonZero(bytesToHex(bytes.subarray(1)));
}

/** Formats a canonical address as Base58Check. Throws for any other text. */
export const formatAddress = remembered((address) =>
  base58check.encode(Uint8Array.of(prefix, ...hexToBytes(address))),
);

function decode(text: string): Uint8Array | null {
  try {
    return base58check.decode(text);
  } catch {
    return null;
  }
}
