import { formatAddress, parseAddress } from "../evm/address.ts";
import { paymentUri } from "../evm/payment-uri.ts";
import { formatHash, parseTransactionHash } from "../evm/transaction-hash.ts";
import { makeExtendedKeys } from "../evm/xpub.ts";
import { looksLikeSecret } from "../looks-like-secret.ts";
import type { NetworkKind } from "../networks.ts";
import { createSandboxClient } from "./client.ts";
import { readChain } from "./store.ts";

/**
 * Till's simulated chain. It has no notation of its own: its addresses, keys, hashes and payment URIs are deliberately
 * those of EVM networks, so that merchants test what a real network will give them. Its chain id, which no real chain
 * has, keeps wallets from paying it with real money.
 */
export const sandboxKind: NetworkKind = {
  isSimulated: true,
  finalityTags: [],
  parseAddress,
  formatAddress,
  addressPrefix: "0x",
  parseTransactionHash,
  formatTransactionHash: formatHash,
  formatBlockHash: formatHash,
  looksLikeSecret,
  extendedKeys: makeExtendedKeys("m/44'/60'/0'"),
  paymentUri,
  browserWallets: null,
  connect: (network, { reader, clock }) =>
    (["sandbox", "sandbox-witness"] as const).map((provider) => ({
      client: createSandboxClient({ reader, network, clock, provider }),
      budget: null,
      healedAt: async () => (await readChain(reader))?.healedAt ?? 0,
    })),
};
