import { parseAnyTransactionHash } from "./kinds.ts";
import type { Network, NetworkKind } from "./networks.ts";

/** Writes addresses and hashes as the store does, and reaches no provider. */
const removedKind: NetworkKind = {
  isSimulated: false,
  finalityTags: [],
  parseAddress: () => ({
    ok: false,
    fault: "malformed",
    message: "The network is no longer configured.",
  }),
  formatAddress: (address) => address,
  addressPrefix: "",
  parseTransactionHash: parseAnyTransactionHash,
  formatTransactionHash: (hash) => hash,
  formatBlockHash: (hash) => hash,
  looksLikeSecret: () => false,
  extendedKeys: null,
  paymentUri: ({ to }) => to,
  browserWallets: null,
  connect: () => [],
};

/**
 * Returns what is known of a network that was removed from the table: its id. Records of its payments stay readable with
 * it; nothing can be paid or looked up there.
 */
export function removedNetwork(id: string): Network {
  return {
    id,
    title: id,
    tokenStandard: "",
    coin: null,
    feeRank: 0,
    isTest: false,
    kind: removedKind,
    chainId: 0,
    addressFamily: id,
    blockTimeMs: 0,
    confirmations: 0,
    pollMs: 0,
    windowBlocks: 0,
    maxLogRange: 0,
    finality: { tag: null, lagBlocks: 0 },
    providers: [],
    explorer: { transaction: null, address: null },
    tokens: [],
  };
}
