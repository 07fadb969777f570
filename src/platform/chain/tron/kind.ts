import { connectJsonRpc } from "../evm/connect.ts";
import { formatBareHash, parseTransactionHash } from "../evm/transaction-hash.ts";
import { makeExtendedKeys } from "../evm/xpub.ts";
import { looksLikeSecret } from "../looks-like-secret.ts";
import type { NetworkKind } from "../networks.ts";
import { formatAddress, parseAddress } from "./address.ts";
import { walletOrigins, walletTransfer } from "./wallet-transfer.ts";

/** TRON: the accounts, contracts and JSON-RPC methods of EVM networks, with its own notation. */
export const tronKind: NetworkKind = {
  isSimulated: false,
  finalityTags: ["finalized"],
  parseAddress,
  formatAddress,
  addressPrefix: "T",
  parseTransactionHash,
  formatTransactionHash: formatBareHash,
  formatBlockHash: formatBareHash,
  looksLikeSecret,
  extendedKeys: makeExtendedKeys("m/44'/195'/0'"),
  // Wallets on TRON accept no URI, only the bare address.
  paymentUri: ({ to }) => formatAddress(to),
  browserWallets: { origins: walletOrigins, transfer: walletTransfer },
  connect: connectJsonRpc,
};
