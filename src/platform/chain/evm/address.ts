import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { cleanPasted } from "../../../kernel/pasted.ts";
import type { Address } from "../client.ts";
import type { AddressFault, ParsedAddress } from "../networks.ts";

const shape = /^0x[0-9a-fA-F]{40}$/;
const canonicalShape = /^[0-9a-f]{40}$/;
const zeroAddress = "0".repeat(40);

const expected =
  "An address of this network is 0x followed by 40 hexadecimal digits. Copy it again from your wallet.";

/**
 * Parses a hexadecimal address with the mixed-case checksum of EIP-55. All lower or all upper case is accepted, because
 * it has no checksum.
 */
export function parseAddress(text: string): ParsedAddress {
  const pasted = cleanPasted(text);
  if (!shape.test(pasted)) return refuse("malformed", expected);
  const digits = pasted.slice(2);
  const address = digits.toLowerCase();
  const isOneCase = digits === address || digits === digits.toUpperCase();
  if (!isOneCase && digits !== checksummed(address)) {
    return refuse(
      "checksum",
      "The address has a mistyped letter: its upper and lower case do not match the checksum (EIP-55). " +
        "Copy it again from your wallet.",
    );
  }
  return nonZero(address);
}

/** Formats a canonical address with the checksum of EIP-55. Throws for any other text. */
export const formatAddress = remembered((address) => `0x${checksummed(address)}`);

/** True for the canonical form of EVM and TRON addresses: 40 lower-case hexadecimal digits. */
export function isAddress(text: string): boolean {
  return canonicalShape.test(text);
}

/** Returns the address of a public key, given as the 64 bytes of its point. TRON and EVM share the derivation. */
export function addressOfPublicKey(point: Uint8Array): Address {
  if (point.length !== 64) throw new TypeError("the point of a public key must have 64 bytes");
  return bytesToHex(keccak_256(point).subarray(12));
}

/** Refuses the zero address, which nobody has a key for. */
export function nonZero(address: Address): ParsedAddress {
  if (address !== zeroAddress) return { ok: true, address };
  return refuse(
    "zero_address",
    "This is the zero address: money sent to it is lost. Enter your own address.",
  );
}

export function refuse(fault: AddressFault, message: string): ParsedAddress {
  return { ok: false, fault, message };
}

const rememberedMax = 4_096;

/**
 * Returns the formatter with a cache of recent results: a checksum costs more than the rest of a record, and the same
 * addresses recur. It throws unless the address is canonical.
 */
export function remembered(format: (address: Address) => string): (address: Address) => string {
  const known = new Map<Address, string>();
  return (address) => {
    let text = known.get(address);
    if (text === undefined) {
      if (!canonicalShape.test(address)) throw new TypeError("not a canonical address");
      text = format(address);
      if (known.size >= rememberedMax) known.clear();
      known.set(address, text);
    }
    return text;
  };
}

/** EIP-55: a letter is upper case if the digit at the same position of the address's hash is 8 or more. */
function checksummed(address: Address): string {
  const hash = bytesToHex(keccak_256(utf8ToBytes(address)));
  return Array.from(address, (digit, place) =>
    hash.charAt(place) >= "8" ? digit.toUpperCase() : digit,
  ).join("");
}
