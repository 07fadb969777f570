import type { Clock } from "../../kernel/clock.ts";
import type { Reader } from "../database/database.ts";
import type { Address } from "./client.ts";
import type { Fetch } from "./evm/transport.ts";
import type { PooledProvider, ProviderEndpoint } from "./providers/member.ts";

/** A token by its contract on one network. */
export interface NetworkToken {
  /** The symbol that invoices use, such as `USDT`. */
  readonly symbol: string;
  readonly title: string;
  readonly contract: Address;
  readonly decimals: number;
  /** Currencies for which one token counts as one unit. */
  readonly pegs: readonly string[];
  /** In the token's smallest unit. Smaller transfers are recorded but never matched. */
  readonly dust: bigint;
  /** The most decimals that payers are asked for; at most `decimals` (docs/decisions/0055). */
  readonly amountDecimals: number;
}

export interface NetworkProvider {
  readonly url: string;
  /** Names of HTTP headers. The settings hold their values. */
  readonly headers: readonly string[];
  /** The largest number of calls in one request. */
  readonly batchMax: number;
  readonly requestsPerSecond: number;
  /** Requests per day, from midnight UTC; null: unlimited. */
  readonly requestsPerDay: number | null;
}

interface Finality {
  /** The tag of the block that the node reports as final, one of its kind's; null: the network has no such tag. */
  readonly tag: string | null;
  /** If the tag is missing, blocks at least this far below the tip count as final. */
  readonly lagBlocks: number;
}

export interface Network {
  /** Such as `tron`. */
  readonly id: string;
  readonly title: string;
  /** Such as `TRC-20`. It is shown beside the network, so that payers choose the right one. */
  readonly tokenStandard: string;
  /** The coin in which payers pay network fees, such as `TRX`; null if the table does not say. */
  readonly coin: string | null;
  /** The network's rank by the usual fee of a token transfer, lowest first. */
  readonly feeRank: number;
  /** True if the network's tokens have no value. */
  readonly isTest: boolean;
  readonly kind: NetworkKind;
  readonly chainId: number;
  /** Networks of the same family share their addresses. */
  readonly addressFamily: string;
  readonly blockTimeMs: number;
  /** Number of confirmations that confirm a payment; the payment's own block is the first. */
  readonly confirmations: number;
  readonly pollMs: number;
  /** Number of newest blocks that every scan reads again. */
  readonly windowBlocks: number;
  readonly maxLogRange: number;
  readonly finality: Finality;
  readonly providers: readonly NetworkProvider[];
  readonly explorer: { readonly transaction: string | null; readonly address: string | null };
  readonly tokens: readonly NetworkToken[];
}

/**
 * Returns the confirmations at which a block counts as final where nodes do not report it. Where they do, their report
 * decides, and this is about the most that it takes.
 */
export function finalConfirmations({ finality }: Pick<Network, "finality">): number {
  return finality.lagBlocks + 1;
}

export type AddressFault = "checksum" | "zero_address" | "malformed";

export type ParsedAddress =
  | { readonly ok: true; readonly address: Address }
  /** `message` says what to do next, and never repeats the text that was entered. */
  | { readonly ok: false; readonly fault: AddressFault; readonly message: string };

export type XpubFault = "checksum" | "depth" | "wrong_kind" | "malformed";

export type ParsedXpub =
  | { readonly ok: true; readonly xpub: string }
  /** `message` says what to do next, and never repeats the text that was entered. */
  | { readonly ok: false; readonly fault: XpubFault; readonly message: string };

/** The extended public keys of a kind of network, from which every invoice can get its own address. */
export interface ExtendedKeys {
  readonly parse: (text: string) => ParsedXpub;
  /** True for text that is meant as a key, even a mistyped one or one of another kind of wallet. */
  readonly isMeant: (text: string) => boolean;
  /** Returns a text that is equal for two keys that derive the same addresses. */
  readonly identity: (xpub: string) => string;
  /** Returns the short text that represents a key in records. No address can be derived from it. */
  readonly fingerprint: (xpub: string) => string;
  /** The number of addresses of a key. */
  readonly addressCount: number;
  /** Derives the address that wallets show as number `index`, counted from 0. */
  readonly deriveAddress: (xpub: string, index: number) => Address;
}

export interface PaymentRequest {
  readonly chainId: number;
  /** The token's contract. */
  readonly contract: Address;
  readonly to: Address;
  /** In the token's smallest unit. */
  readonly amount: bigint;
}

/** The ways in which a page finds a browser's wallets, by the standard that describes them. */
export const walletStandards = ["eip-6963", "tip-6963"] as const;

/** A transfer as a wallet in the payer's browser is asked for it. Addresses are in the network's notation. */
export interface WalletTransfer {
  readonly walletStandard: (typeof walletStandards)[number];
  /** As wallets write it: `0x1`. */
  readonly chainId: string;
  readonly tokenContract: string;
  readonly recipient: string;
  /** The amount in the token's smallest unit, as a decimal number. */
  readonly units: string;
  /** The calldata of `transfer(recipient, amount)` with 0x. */
  readonly data: string;
}

/** The wallets that payers have in their browsers, as extensions or because the browser is a wallet's own. */
interface BrowserWallets {
  /** Origins that a wallet's own code must reach from the page. */
  readonly origins: readonly string[];
  readonly transfer: (request: PaymentRequest) => WalletTransfer;
}

/** The means by which a kind reaches its networks' providers. */
export interface NetworkAccess {
  /** The configured providers, in order of preference; empty for a simulated network. */
  readonly endpoints: readonly ProviderEndpoint[];
  readonly reader: Reader;
  readonly clock: Clock;
  readonly fetch: Fetch;
  /** Aborted when the program stops. */
  readonly stopping: AbortSignal;
}

/**
 * Everything in which one kind of network differs from another. A network carries its kind, so no other code asks which
 * kind it has. Formatting functions throw unless they are given the canonical form, which the parsers return.
 */
export interface NetworkKind {
  /**
   * True: the chain exists only in Till's store and is driven by commands. It has no configured providers, and at most
   * one network can be of such a kind.
   */
  readonly isSimulated: boolean;
  /** The values of `finality.tag` in the network table: the tags by which the kind's nodes report a final block. */
  readonly finalityTags: readonly string[];
  /** Parses an address as a person pastes it. Surrounding white space is ignored; a wrong letter is an error. */
  readonly parseAddress: (text: string) => ParsedAddress;
  readonly formatAddress: (address: Address) => string;
  /** The text with which every formatted address begins, such as `0x`. It tells addresses apart by nothing. */
  readonly addressPrefix: string;
  /**
   * Parses a transaction hash as a payer pastes it, or an explorer's link that contains exactly one; null for any other
   * text. Two kinds that accept the same text return the same hash.
   */
  readonly parseTransactionHash: (text: string) => string | null;
  /** Formats a transaction hash as the network's explorers do. */
  readonly formatTransactionHash: (hash: string) => string;
  readonly formatBlockHash: (hash: string) => string;
  /**
   * True for text that may be a private key or a seed phrase. It is false for every address and extended public key of
   * any kind, because a wallet's text is checked against all kinds.
   */
  readonly looksLikeSecret: (text: string) => boolean;
  /** Null if the kind's wallets cannot derive addresses from a public key. */
  readonly extendedKeys: ExtendedKeys | null;
  /** Returns the text of a payment's QR code: a URI, or the bare address if the kind's wallets accept nothing else. */
  readonly paymentUri: (request: PaymentRequest) => string;
  /** Null if browsers have no wallets for the kind. */
  readonly browserWallets: BrowserWallets | null;
  /** Creates the clients of a network's providers, in order of preference. */
  readonly connect: (network: Network, access: NetworkAccess) => PooledProvider[];
}

/** How a network writes addresses and transaction hashes. */
export type Notation = Pick<NetworkKind, "formatAddress" | "formatTransactionHash">;

const asStored: Notation = {
  formatAddress: (address) => address,
  formatTransactionHash: (hash) => hash,
};

/** Returns the notation of a network; that of the store if the network was removed from the table. */
export function notationOf(networks: ReadonlyMap<string, Network>, id: string): Notation {
  return networks.get(id)?.kind ?? asStored;
}

/**
 * The characters that a shortened address shows after its prefix and at its end. To make an
 * address that agrees in 10 hexadecimal digits takes minutes on one graphics card (40 bits); 12 digits take days, and in
 * Base58 far more.
 */
const shownFirst = 4;
const shownLast = 8;

/** Returns the beginning and the end of an address, for places where a stranger must not read the whole. */
export function shortAddress(
  { addressPrefix, formatAddress }: Pick<NetworkKind, "addressPrefix" | "formatAddress">,
  address: Address,
): string {
  const shown = formatAddress(address);
  return `${shown.slice(0, addressPrefix.length + shownFirst)}…${shown.slice(-shownLast)}`;
}

export function findToken(network: Network, symbol: string): NetworkToken | null {
  return network.tokens.find((token) => token.symbol === symbol) ?? null;
}

export function findTokenByContract(network: Network, contract: Address): NetworkToken | null {
  return network.tokens.find((token) => token.contract === contract) ?? null;
}

/** Returns the explorer's page for a transaction; null if the network has no explorer. */
export function transactionLink(network: Network, transactionHash: string): string | null {
  const shown = network.kind.formatTransactionHash(transactionHash);
  return network.explorer.transaction?.replace("{hash}", shown) ?? null;
}

/** Returns the explorer's page for an address; null if the network has no explorer. */
export function addressLink(network: Network, address: Address): string | null {
  const shown = network.kind.formatAddress(address);
  return network.explorer.address?.replace("{address}", shown) ?? null;
}
