import { secp256k1 } from "@noble/curves/secp256k1.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes } from "@noble/hashes/utils.js";
import { createBase58check } from "@scure/base";
import { HARDENED_OFFSET, HDKey } from "@scure/bip32";
import { cleanPasted } from "../../../kernel/pasted.ts";
import { Defect } from "../../../kernel/errors.ts";
import { addressOfPublicKey } from "./address.ts";
import type { Address } from "../client.ts";
import type { ExtendedKeys, ParsedXpub, XpubFault } from "../networks.ts";

const base58check = createBase58check(sha256);
/** Case-sensitive, because an address may begin with TPub. */
const prefix = /^\s*[xyztuvXYZUV]pub/;
const shape = /^[xyztuvXYZTUV]pub[1-9A-HJ-NP-Za-km-z]{20,140}$/;
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
  if (!shape.test(pasted)) {
    return refuse(
      "malformed",
      "An extended public key starts with xpub and has 111 letters and digits. Export it from your wallet.",
    );
  }
  const bytes = decode(pasted);
  if (bytes?.length !== serializedLength) {
    return refuse(
      "checksum",
      "The key has a mistyped or missing letter: its checksum does not match. Copy it again.",
    );
  }
  if (new DataView(bytes.buffer, bytes.byteOffset).getUint32(0) !== xpubVersion) {
    return refuse(
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
    return refuse("malformed", "The key is not a point of the curve. Export it again.");
  }
  if (key.depth !== accountDepth || key.index < HARDENED_OFFSET) {
    return refuse(
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

function refuse(fault: XpubFault, message: string): ParsedXpub {
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
const receivingNodes = new Map<string, HDKey>();
const receivingNodesMax = 1_000;

function receiving(xpub: string): HDKey {
  const known = receivingNodes.get(xpub);
  if (known !== undefined) return known;
  const node = HDKey.fromExtendedKey(xpub).deriveChild(0);
  const [oldest] = receivingNodes.keys();
  if (oldest !== undefined && receivingNodes.size >= receivingNodesMax)
    receivingNodes.delete(oldest);
  receivingNodes.set(xpub, node);
  return node;
}
