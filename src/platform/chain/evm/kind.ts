import { looksLikeSecret } from "../looks-like-secret.ts";
import type { NetworkKind } from "../networks.ts";
import {
  formatAddress,
  formatHash,
  makeExtendedKeys,
  parseAddress,
  parseTransactionHash,
  paymentUri,
  walletTransfer,
} from "./addresses.ts";
import { connectJsonRpc } from "./client.ts";

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
