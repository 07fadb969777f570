import { looksLikeSecret } from "../looks-like-secret.ts";
import type { NetworkKind } from "../networks.ts";
import { formatAddress, parseAddress } from "./address.ts";
import { connectJsonRpc } from "./connect.ts";
import { paymentUri } from "./payment-uri.ts";
import { formatHash, parseTransactionHash } from "./transaction-hash.ts";
import { walletTransfer } from "./wallet-transfer.ts";
import { makeExtendedKeys } from "./xpub.ts";

/** Ethereum and the networks that are compatible with it. */
export const evmKind: NetworkKind = {
  isSimulated: false,
  finalityTags: ["finalized"],
  parseAddress,
  formatAddress,
  addressPrefix: "0x",
  parseTransactionHash,
  formatTransactionHash: formatHash,
  formatBlockHash: formatHash,
  looksLikeSecret,
  extendedKeys: makeExtendedKeys("m/44'/60'/0'"),
  paymentUri,
  browserWallets: { origins: [], transfer: walletTransfer },
  connect: connectJsonRpc,
};
