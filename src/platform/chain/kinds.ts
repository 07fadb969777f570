import type { Address } from "./client.ts";
import { evmKind } from "./evm/kind.ts";
import type { NetworkKind } from "./networks.ts";
import { sandboxKind } from "./sandbox/kind.ts";
import { tronKind } from "./tron/kind.ts";

/** The kinds of network by the value of `kind` in config/networks.yaml. A new kind is one line here and one folder. */
export const networkKinds: Record<string, NetworkKind> = {
  evm: evmKind,
  tron: tronKind,
  sandbox: sandboxKind,
};

/** Parses a transaction hash of an unknown network. Returns its canonical form; null if no kind accepts the text. */
export function parseAnyTransactionHash(text: string): string | null {
  for (const kind of Object.values(networkKinds)) {
    const hash = kind.parseTransactionHash(text);
    if (hash !== null) return hash;
  }
  return null;
}

/** An address of an unknown network. */
export interface FoundAddress {
  readonly address: Address;
  /** The address in the notation of its network's kind. */
  readonly shown: string;
}

/** Parses an address of an unknown network; null if no kind accepts the text. */
export function parseAnyAddress(text: string): FoundAddress | null {
  for (const kind of Object.values(networkKinds)) {
    const parsed = kind.parseAddress(text);
    if (parsed.ok) return { address: parsed.address, shown: kind.formatAddress(parsed.address) };
  }
  return null;
}

/** True for text that is meant as an extended public key of any kind of network. */
export function isMeantAsExtendedKey(text: string): boolean {
  return Object.values(networkKinds).some(
    ({ extendedKeys }) => extendedKeys?.isMeant(text) === true,
  );
}

/** True for text that may be a private key or a seed phrase of any kind of network. */
export function looksLikeAnySecret(text: string): boolean {
  return Object.values(networkKinds).some((kind) => kind.looksLikeSecret(text));
}
