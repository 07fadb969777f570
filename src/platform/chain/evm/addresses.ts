import { secp256k1 } from "@noble/curves/secp256k1.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { createBase58check } from "@scure/base";
import { HARDENED_OFFSET, HDKey } from "@scure/bip32";
import { LRUCache } from "lru-cache";
import { Defect } from "../../../kernel/errors.ts";
import { cleanPasted } from "../../../kernel/text.ts";
import type { Address } from "../client.ts";
import type {
  AddressFault,
  ExtendedKeys,
  ParsedAddress,
  ParsedXpub,
  PaymentRequest,
  WalletTransfer,
  XpubFault,
} from "../networks.ts";

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

const rememberedMax = 4_096;

/** Formats a canonical address with the checksum of EIP-55. Throws for any other text. */
export const formatAddress = remembered((address) => `0x${checksummed(address)}`);

/** True for the canonical form of EVM and TRON addresses: 40 lower-case hexadecimal digits. */
export function isAddress(text: string): boolean {
  return canonicalShape.test(text);
}

/** Returns the address of a public key, given as the 64 bytes of its point. TRON and EVM share the derivation. */
function addressOfPublicKey(point: Uint8Array): Address {
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

/**
 * Returns the formatter with a cache of recent results: a checksum costs more than the rest of a record, and the same
 * addresses recur. It throws unless the address is canonical.
 */
export function remembered(format: (address: Address) => string): (address: Address) => string {
  const known = new LRUCache<Address, string>({ max: rememberedMax });
  return (address) => {
    let text = known.get(address);
    if (text === undefined) {
      if (!canonicalShape.test(address)) throw new TypeError("not a canonical address");
      text = format(address);
      known.set(address, text);
    }
    return text;
  };
}

/** EIP-55: a letter is upper case if the digit at the same position of the address's hash is 8 or more. */
function checksummed(address: Address): string {
  const hash = bytesToHex(keccak_256(utf8ToBytes(address)));
  return Array.from(address, (digit, index) =>
    hash.charAt(index) >= "8" ? digit.toUpperCase() : digit,
  ).join("");
}

/** Returns an EIP-681 URI with the chain, the token and the amount. */
export function paymentUri({ chainId, contract, to, amount }: PaymentRequest): string {
  return (
    `ethereum:${formatAddress(contract)}@${String(chainId)}/transfer` +
    `?address=${formatAddress(to)}&uint256=${amount.toString()}`
  );
}

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

/** The first four bytes of keccak256("transfer(address,uint256)"). */
const transferSelector = "a9059cbb";

/** Returns the calldata of `transfer(to, amount)`, with 0x: the selector and two words of 32 bytes. */
export function transferData({ to, amount }: Pick<PaymentRequest, "to" | "amount">): string {
  return `0x${transferSelector}${to.padStart(64, "0")}${amount.toString(16).padStart(64, "0")}`;
}

/** Returns the request for wallets that announce themselves by EIP-6963. */
export function walletTransfer(request: PaymentRequest): WalletTransfer {
  return {
    walletStandard: "eip-6963",
    chainId: `0x${request.chainId.toString(16)}`,
    tokenContract: formatAddress(request.contract),
    recipient: formatAddress(request.to),
    units: request.amount.toString(),
    data: transferData(request),
  };
}

const base58check = createBase58check(sha256);
/** Case-sensitive, because an address may begin with TPub. */
const prefix = /^\s*[xyztuvXYZUV]pub/;
const xpubShape = /^[xyztuvXYZTUV]pub[1-9A-HJ-NP-Za-km-z]{20,140}$/;
const xpubVersion = 0x0488b21e;
const serializedLength = 78;
/** m / purpose' / coin' / account' */
const accountDepth = 3;

/**
 * Returns the extended public keys of BIP-32 accounts. `accountPath` is the path that wallets use on the network, such
 * as `m/44'/60'/0'`; a key does not contain it, so it only explains a key at another depth.
 */
export function makeExtendedKeys(accountPath: string): ExtendedKeys {
  return {
    parse: (text) => parseXpub(text, accountPath),
    isMeant: (text) => prefix.test(text),
    identity: xpubIdentity,
    fingerprint: fingerprintForm,
    addressCount: HARDENED_OFFSET,
    deriveAddress,
  };
}

function parseXpub(text: string, accountPath: string): ParsedXpub {
  const pasted = cleanPasted(text);
  if (!xpubShape.test(pasted)) {
    return refuseXpub(
      "malformed",
      "An extended public key starts with xpub and has 111 letters and digits. Export it from your wallet.",
    );
  }
  const bytes = decode(pasted);
  if (bytes?.length !== serializedLength) {
    return refuseXpub(
      "checksum",
      "The key has a mistyped or missing letter: its checksum does not match. Copy it again.",
    );
  }
  if (new DataView(bytes.buffer, bytes.byteOffset).getUint32(0) !== xpubVersion) {
    return refuseXpub(
      "wrong_kind",
      "This is an extended public key for another kind of wallet. Export the account's xpub for this network.",
    );
  }
  return readAccount(pasted, accountPath);
}

function readAccount(xpub: string, accountPath: string): ParsedXpub {
  let key: HDKey;
  try {
    key = HDKey.fromExtendedKey(xpub);
  } catch {
    return refuseXpub("malformed", "The key is not a point of the curve. Export it again.");
  }
  if (key.depth !== accountDepth || key.index < HARDENED_OFFSET) {
    return refuseXpub(
      "depth",
      `This key is at depth ${String(key.depth)}. Till needs the account's key at depth 3, ` +
        `such as ${accountPath}. Export the account's xpub.`,
    );
  }
  return { ok: true, xpub };
}

/** Derives the address at `/0/index` below the account, which ordinary wallets show as number `index`. */
export function deriveAddress(xpub: string, index: number): Address {
  if (!Number.isInteger(index) || index < 0 || index >= HARDENED_OFFSET) {
    throw new Defect(`${String(index)} is not an address index`);
  }
  const { publicKey } = receiving(xpub).deriveChild(index);
  if (publicKey === null) throw new Defect("a derived key has no public key");
  return addressOfPublicKey(secp256k1.Point.fromBytes(publicKey).toBytes(false).subarray(1));
}

/**
 * Returns the text that represents a wallet's key in its record: the account's BIP-32 fingerprint and the last
 * characters of the key, such as `xpub:73c5da0a…x9Kf2Q`. It is short and recognizable, and no address can be derived
 * from it.
 */
export function fingerprintForm(xpub: string): string {
  const fingerprint = HDKey.fromExtendedKey(xpub).fingerprint.toString(16).padStart(8, "0");
  return `xpub:${fingerprint}…${xpub.slice(-6)}`;
}

/**
 * Returns 64 hexadecimal digits that are equal for two keys that derive the same addresses. The text of a key also
 * encodes its position in the tree, so different texts may be the same key.
 */
export function xpubIdentity(xpub: string): string {
  const { publicKey, chainCode } = HDKey.fromExtendedKey(xpub);
  if (publicKey === null || chainCode === null) throw new Defect("not an extended public key");
  return bytesToHex(sha256(concatBytes(publicKey, chainCode)));
}

function refuseXpub(fault: XpubFault, message: string): ParsedXpub {
  return { ok: false, fault, message };
}

function decode(text: string): Uint8Array | null {
  try {
    return base58check.decode(text);
  } catch {
    return null;
  }
}

/**
 * Cache of the `/0` nodes: an invoice then costs one derivation, without the parsing of the key and a second
 * derivation.
 */
const receivingNodes = new LRUCache<string, HDKey>({ max: 1_000 });

function receiving(xpub: string): HDKey {
  const known = receivingNodes.get(xpub);
  if (known !== undefined) return known;
  const node = HDKey.fromExtendedKey(xpub).deriveChild(0);
  receivingNodes.set(xpub, node);
  return node;
}
