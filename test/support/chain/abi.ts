import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";

/** A call argument: an address (20 bytes in hexadecimal, with or without 0x), a number, or an array of either. */
export type CallValue = string | bigint | readonly (string | bigint)[];

/** Encodes the calldata of a call such as `transfer(address,uint256)`: 0x, selector, arguments. */
export function encodeCall(signature: string, values: readonly CallValue[]): string {
  const selector = bytesToHex(keccak_256(utf8ToBytes(signature))).slice(0, 8);
  const heads: string[] = [];
  const tails: string[] = [];
  let tailOffset = BigInt(values.length * 32);
  for (const value of values) {
    if (typeof value === "object") {
      heads.push(word(tailOffset));
      tails.push(word(BigInt(value.length)), ...value.map(word));
      tailOffset += BigInt((value.length + 1) * 32);
    } else {
      heads.push(word(value));
    }
  }
  return `0x${selector}${heads.join("")}${tails.join("")}`;
}

/** Returns the first topic of an event's logs, with 0x. */
export function eventTopic(signature: string): string {
  return `0x${bytesToHex(keccak_256(utf8ToBytes(signature)))}`;
}

/** Encodes an address as a topic: 32 bytes with 0x. */
export function addressTopic(address: string): string {
  return `0x${word(address)}`;
}

/** Returns the storage slot of an address's value in a `mapping(address => …)` that is declared at a slot. */
export function mappingSlot(address: string, slot: bigint): string {
  return `0x${bytesToHex(keccak_256(concatBytes(hexToBytes(word(address)), hexToBytes(word(slot)))))}`;
}

/** Encodes a number as 32 bytes with 0x. */
export function wordOf(value: bigint): string {
  return `0x${word(value)}`;
}

/** Returns an address as 40 lowercase hexadecimal digits; throws on anything else. */
export function bareAddress(address: string): string {
  const bare = address.replace(/^0x/, "").toLowerCase();
  if (!/^[0-9a-f]{40}$/.test(bare)) throw new Error(`${address} is not 20 bytes of hexadecimal`);
  return bare;
}

function word(value: string | bigint): string {
  return (typeof value === "bigint" ? value.toString(16) : bareAddress(value)).padStart(64, "0");
}
