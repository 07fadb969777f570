import { defineProblem, invalidField, invalidFields } from "../../kernel/errors.ts";
import type { Address } from "../../platform/chain/client.ts";
import { looksLikeAnySecret, parseAnyAddress } from "../../platform/chain/kinds.ts";
import { secretWarning } from "../../platform/chain/looks-like-secret.ts";
import type { Network } from "../../platform/chain/networks.ts";

export const NetworkNotEnabled = defineProblem({
  code: "network_not_enabled",
  status: 422,
  title: "The network is not enabled",
  remedy: "Choose a network of `listNetworks`, or ask the operator to enable this one.",
});
export const WalletAddressRefused = defineProblem({
  code: "wallet_address_refused",
  status: 422,
  title: "The address cannot receive payments",
  remedy:
    "Use an address of your own wallet: this one is a token contract or the zero address, and money sent to it is lost.",
});
export const WalletAddressUnavailable = defineProblem({
  code: "wallet_address_unavailable",
  status: 409,
  title: "The address cannot be registered",
  remedy:
    "Use another address or key. If it is yours and another organization registered it, ask the operator to release it.",
});
export const DefaultWalletUnusable = defineProblem({
  code: "default_wallet_unusable",
  status: 422,
  title: "The wallet cannot be a default or a reserve of the network",
  remedy: "Choose active wallets of the organization on this network: see `listWallets`.",
});
export const WalletLimit = defineProblem({
  code: "wallet_limit",
  status: 409,
  title: "The organization has as many wallets as it may have",
  remedy:
    "Archive wallets that are no longer used with `archiveWallet`, or register an extended public key, which has an address for each invoice. Before its approval an organization may have few: submit it with `submitOrganizationKyb`.",
});

/** Number of consecutive unpaid addresses that most wallets scan (the BIP 44 gap limit). */
export const ordinaryGapLimit = 20;

/**
 * Invoices that payers start at payment links take only every second address of an extended key, so that half of those
 * that ordinary wallets scan are left to the merchant, however many strangers come (docs/decisions/0059).
 */
const linkStride = 2;

/** The side that takes an address of an extended key: the merchant, or a payer who starts an invoice at a payment link. */
export type AddressTaker = "merchant" | "link";

/** Returns the number of consecutive indexes among which there is one that the taker may have. */
export const strideOf = (taker: AddressTaker): number => (taker === "link" ? linkStride : 1);

/** Whether the taker may have the address with this index; in SQL: `mayTakeSql`. */
export function mayTake(taker: AddressTaker, index: number): boolean {
  const stride = strideOf(taker);
  return index % stride === stride - 1;
}

/** Returns the SQL condition of `mayTake` for a column. */
export function mayTakeSql(taker: AddressTaker, column: string): string {
  const stride = strideOf(taker);
  return `${column} % ${String(stride)} = ${String(stride - 1)}`;
}

/** Whether a typical wallet may miss payments to the newest addresses. */
export function hasWideGap(wallet: {
  readonly nextIndex: number;
  readonly highestPaidIndex: number | null;
}): boolean {
  return wallet.nextIndex - ((wallet.highestPaidIndex ?? -1) + 1) >= ordinaryGapLimit;
}

/** Returns an enabled network; 422 for any other. */
export function requireNetwork(networks: ReadonlyMap<string, Network>, id: string): Network {
  const network = networks.get(id);
  if (network !== undefined) return network;
  throw new NetworkNotEnabled(
    `Choose one of the enabled networks: ${[...networks.keys()].join(", ")}.`,
  );
}

/** A parsed receiving address or extended key. */
export interface Receiver {
  readonly kind: "address" | "xpub";
  readonly identity: string;
  readonly address: Address | null;
  readonly xpub: string | null;
  readonly shownAddress: string;
}

/**
 * Parses whichever of `address` and `xpub` was given. A malformed, mistyped or secret value is a 400 that names the
 * field and never repeats the text; an address where funds would be lost is a 422.
 */
export function readReceiver(
  network: Network,
  networks: Iterable<Network>,
  given: { readonly address?: string | undefined; readonly xpub?: string | undefined },
): Receiver {
  const { address, xpub } = given;
  if (address !== undefined && xpub === undefined) return readAddress(network, networks, address);
  if (xpub !== undefined && address === undefined) return readXpub(network, xpub);
  const message = "give either address or xpub";
  throw invalidFields(
    ["/address", "/xpub"].map((pointer) => ({ pointer, code: "one_of", message })),
  );
}

function readAddress(network: Network, networks: Iterable<Network>, text: string): Receiver {
  refuseSecret("/address", text);
  const { kind } = network;
  const parsed = kind.parseAddress(text);
  if (!parsed.ok) {
    if (parsed.fault === "zero_address") throw new WalletAddressRefused(parsed.message);
    if (parsed.fault === "malformed" && parseAnyAddress(text) !== null) {
      const message = `This is an address of another network. ${parsed.message}`;
      throw invalidField("/address", "wrong_network", message);
    }
    throw invalidField("/address", parsed.fault, parsed.message);
  }
  const { address } = parsed;
  for (const { tokens, title } of networks) {
    const token = tokens.find(({ contract }) => contract === address);
    if (token === undefined) continue;
    throw new WalletAddressRefused(
      `This is the contract of ${token.symbol} on ${title}; funds sent to it are lost. Give your own address.`,
    );
  }
  const shownAddress = kind.formatAddress(address);
  return { kind: "address", identity: address, address, xpub: null, shownAddress };
}

function readXpub({ kind, title }: Network, text: string): Receiver {
  refuseSecret("/xpub", text);
  if (kind.extendedKeys === null) {
    const message = `${title} has no extended public keys. Give an address instead.`;
    throw invalidField("/xpub", "not_supported", message);
  }
  const parsed = kind.extendedKeys.parse(text);
  if (!parsed.ok) throw invalidField("/xpub", parsed.fault, parsed.message);
  const { xpub } = parsed;
  return {
    kind: "xpub",
    identity: kind.extendedKeys.identity(xpub),
    address: null,
    xpub,
    shownAddress: kind.extendedKeys.fingerprint(xpub),
  };
}

/** Refuses a key of any kind of network: people paste keys of the wrong network too. */
function refuseSecret(pointer: string, text: string): void {
  if (looksLikeAnySecret(text)) throw invalidField(pointer, "secret", secretWarning);
}
