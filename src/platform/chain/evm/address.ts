import { keccak_256 } from "@noble/hashes/sha3.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { createBase58check } from "@scure/base";
import type { Address } from "../client.ts";
import { looksLikeSecret, secretWarning } from "../looks-like-secret.ts";

/**
 * The notation of a network's 20-byte addresses: Base58Check (`T…`), or hexadecimal with the mixed-case checksum of
 * EIP-55.
 */
export type AddressForm = "tron" | "evm";

export const addressForms = ["tron", "evm"] as const satisfies readonly AddressForm[];

export type AddressFault = "secret" | "checksum" | "wrong_network" | "zero_address" | "malformed";

export type ParsedAddress =
  | { readonly ok: true; readonly address: Address }
  /** `message` says what to do next, and never repeats the text that was entered. */
  | { readonly ok: false; readonly fault: AddressFault; readonly message: string };

const base58check = createBase58check(sha256);
const tronPrefix = 0x41;
const tronShape = /^T[1-9A-HJ-NP-Za-km-z]{33}$/;
const evmShape = /^0x[0-9a-fA-F]{40}$/;
const canonicalShape = /^[0-9a-f]{40}$/;
const zeroAddress = "0".repeat(40);
/** Decoding base58 takes time quadratic in the length, so longer text is rejected unread. */
const textLengthMax = 512;

/** Parses an address as a person pastes it. Surrounding white space is ignored; a wrong letter is an error. */
export function parseAddress(form: AddressForm, text: string): ParsedAddress {
  const pasted = text.trim();
  if (looksLikeSecret(pasted)) return refuse("secret", secretWarning);
  if (pasted.length > textLengthMax) return refuse("malformed", expected[form]);
  const parsed = form === "tron" ? parseTron(pasted) : parseEvm(pasted);
  if (parsed.ok && parsed.address === zeroAddress) {
    return refuse(
      "zero_address",
      "This is the zero address: money sent to it is lost. Enter your own address.",
    );
  }
  return parsed;
}

/** Cache of recent results: a checksum costs more than the rest of a record, and the same addresses recur. */
const formatted: Readonly<Record<AddressForm, Map<Address, string>>> = {
  tron: new Map(),
  evm: new Map(),
};
const formattedMax = 4_096;

/** Formats an address as people on that kind of network write it. Throws unless the address is canonical. */
export function formatAddress(form: AddressForm, address: Address): string {
  const known = formatted[form];
  let text = known.get(address);
  if (text === undefined) {
    text = format(form, address);
    if (known.size >= formattedMax) known.clear();
    known.set(address, text);
  }
  return text;
}

function format(form: AddressForm, address: Address): string {
  if (!canonicalShape.test(address)) throw new TypeError("not a canonical address");
  if (form === "tron") return base58check.encode(Uint8Array.of(tronPrefix, ...hexToBytes(address)));
  return `0x${checksummed(address)}`;
}

/** True for an address in canonical form. */
export function isAddress(text: string): boolean {
  return canonicalShape.test(text);
}

/** Returns the address of a public key, given as the 64 bytes of its point. TRON and EVM share the derivation. */
export function addressOfPublicKey(point: Uint8Array): Address {
  if (point.length !== 64) throw new TypeError("the point of a public key must have 64 bytes");
  return bytesToHex(keccak_256(point).subarray(12));
}

const expected: Record<AddressForm, string> = {
  tron: "A TRON address starts with T and has 34 letters and digits. Copy it again from your wallet.",
  evm: "An address of this network is 0x followed by 40 hexadecimal digits. Copy it again from your wallet.",
};

function refuse(fault: AddressFault, message: string): ParsedAddress {
  return { ok: false, fault, message };
}

function parseTron(text: string): ParsedAddress {
  if (evmShape.test(text)) {
    return refuse(
      "wrong_network",
      "This is an address of an EVM network (0x…). On TRON, enter the address that starts with T.",
    );
  }
  if (!tronShape.test(text)) return refuse("malformed", expected.tron);
  const bytes = decodeTron(text);
  if (bytes === null) {
    return refuse(
      "checksum",
      "The address has a mistyped letter: its checksum does not match. Copy it again from your wallet.",
    );
  }
  if (bytes.length !== 21 || bytes[0] !== tronPrefix) return refuse("malformed", expected.tron);
  return { ok: true, address: bytesToHex(bytes.subarray(1)) };
}

function decodeTron(text: string): Uint8Array | null {
  try {
    return base58check.decode(text);
  } catch {
    return null;
  }
}

function parseEvm(text: string): ParsedAddress {
  if (tronShape.test(text)) {
    return refuse(
      "wrong_network",
      "This is a TRON address (T…). On this network, enter the address that starts with 0x.",
    );
  }
  if (!evmShape.test(text)) return refuse("malformed", expected.evm);
  const digits = text.slice(2);
  const address = digits.toLowerCase();
  const isOneCase = digits === address || digits === digits.toUpperCase();
  if (!isOneCase && digits !== checksummed(address)) {
    return refuse(
      "checksum",
      "The address has a mistyped letter: its upper and lower case do not match the checksum (EIP-55). " +
        "Copy it again from your wallet.",
    );
  }
  return { ok: true, address };
}

/** EIP-55: a letter is upper case if the digit at the same position of the address's hash is 8 or more. */
function checksummed(address: Address): string {
  const hash = bytesToHex(keccak_256(utf8ToBytes(address)));
  return Array.from(address, (digit, place) =>
    hash.charAt(place) >= "8" ? digit.toUpperCase() : digit,
  ).join("");
}
