import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { createBase58check } from "@scure/base";
import { cleanPasted } from "../../../kernel/text.ts";
import {
  formatBareHash,
  makeExtendedKeys,
  nonZero,
  parseTransactionHash,
  refuse,
  remembered,
  transferData,
} from "../evm/addresses.ts";
import { connectJsonRpc } from "../evm/client.ts";
import { looksLikeSecret } from "../looks-like-secret.ts";
import type { NetworkKind, ParsedAddress, PaymentRequest, WalletTransfer } from "../networks.ts";

/**
 * TRON's wallets give the page a tronWeb, which reads and broadcasts from the page itself, through this node unless the
 * payer has chosen another one. Wallets of EVM networks do so outside of the page.
 */
const walletOrigins = ["https://api.trongrid.io"];

const base58check = createBase58check(sha256);
const prefix = 0x41;
/** The shape also bounds the length: decoding base58 takes time quadratic in it. */
const shape = /^T[1-9A-HJ-NP-Za-km-z]{33}$/;

const expected =
  "A TRON address starts with T and has 34 letters and digits. Copy it again from your wallet.";

/** Formats a canonical address as Base58Check. Throws for any other text. */
export const formatAddress = remembered((address) =>
  base58check.encode(Uint8Array.of(prefix, ...hexToBytes(address))),
);

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

/** Returns the request for wallets that announce themselves by TIP-6963. */
function walletTransfer(request: PaymentRequest): WalletTransfer {
  return {
    walletStandard: "tip-6963",
    chainId: `0x${request.chainId.toString(16)}`,
    tokenContract: formatAddress(request.contract),
    recipient: formatAddress(request.to),
    units: request.amount.toString(),
    data: transferData(request),
  };
}

/** Parses a Base58Check address (`T…`) to the 20 bytes that EVM addresses have too. */
export function parseAddress(text: string): ParsedAddress {
  const pasted = cleanPasted(text);
  if (!shape.test(pasted)) return refuse("malformed", expected);
  const bytes = decode(pasted);
  if (bytes === null) {
    return refuse(
      "checksum",
      "The address has a mistyped letter: its checksum does not match. Copy it again from your wallet.",
    );
  }
  if (bytes.length !== 21 || bytes[0] !== prefix) return refuse("malformed", expected);
  return nonZero(bytesToHex(bytes.subarray(1)));
}

function decode(text: string): Uint8Array | null {
  try {
    return base58check.decode(text);
  } catch {
    return null;
  }
}
