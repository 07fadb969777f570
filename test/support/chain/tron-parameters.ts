/** The parameters that java-tron accepts, and the messages with which it refuses others. */
import { JsonRpcRefusal } from "./json-rpc.ts";

/** The limits of a java-tron node; hosted ones may be lower. */
export interface TronLimits {
  /** The maximum difference of toBlock and fromBlock. */
  blockRange: number;
  addresses: number;
  /** The maximum number of alternatives for one topic. */
  subTopics: number;
  results: number;
  batch: number;
}

export const defaultLimits: TronLimits = {
  blockRange: 5_000,
  addresses: 1_000,
  subTopics: 1_000,
  results: 10_000,
  batch: 100,
};

export function refusal(code: number, message: string): JsonRpcRefusal {
  return new JsonRpcRefusal(code, message, "{}");
}

export function invalid(message: string): JsonRpcRefusal {
  return refusal(-32602, message);
}

export function isHash(value: unknown): value is string {
  return typeof value === "string" && /^(0x)?[a-zA-Z0-9]{64}$/.test(value);
}

export function checkedHash(value: unknown): string {
  if (!isHash(value)) throw invalid("invalid hash value");
  return value;
}

export function checkedAddresses(value: unknown, limits: TronLimits): string[] {
  if (value === undefined || value === null) return [];
  if (typeof value === "string") return [evmAddress(value, "invalid address")];
  if (!Array.isArray(value)) throw invalid("invalid addresses in query");
  if (value.length > limits.addresses)
    throw invalid(`exceed max addresses: ${String(limits.addresses)}`);
  return value.map((address, index) =>
    evmAddress(address, `invalid address at index ${String(index)}`),
  );
}

export function checkedTopics(value: unknown, limits: TronLimits): unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalid("invalid topic(s)");
  if (value.length > 4) throw invalid("topics size should be <= 4");
  for (const slot of value as unknown[]) {
    const alternatives = Array.isArray(slot) ? (slot as unknown[]) : slot === null ? [] : [slot];
    if (alternatives.length > limits.subTopics) {
      throw invalid(`exceed max topics: ${String(limits.subTopics)}`);
    }
    for (const topic of alternatives) {
      if (typeof topic !== "string" || !/^(0x)?[0-9a-fA-F]{64}$/.test(topic)) {
        throw invalid(`invalid topic(s): ${JSON.stringify(topic)}`);
      }
    }
  }
  return value;
}

/** Parses 20 bytes in hexadecimal, or 21 that begin with TRON's 41; base58 is refused. */
export function evmAddress(value: unknown, complaint: string): string {
  const bare =
    typeof value === "string" ? /^(?:0x)?(?:41)?([0-9a-fA-F]{40})$/.exec(value)?.[1] : undefined;
  if (bare === undefined) throw invalid(`${complaint}: [${JSON.stringify(value)}]`);
  return `0x${bare}`;
}
