import { invalidField, invalidFields } from "../../kernel/errors.ts";
import { formatAddress, parseAddress } from "../../platform/chain/evm/address.ts";
import type { Address } from "../../platform/chain/client.ts";
import type { Network } from "../../platform/chain/networks.ts";
import { fingerprintForm, parseXpub, xpubIdentity } from "../../platform/chain/evm/xpub.ts";
import { WalletAddressRefused } from "./errors.ts";

/** Number of consecutive unpaid addresses that most wallets scan (the BIP 44 gap limit). */
export const ordinaryGapLimit = 20;

/** Whether a typical wallet may miss payments to the next assigned address. */
export function hasWideGap(wallet: {
  readonly nextIndex: number;
  readonly highestPaidIndex: number | null;
}): boolean {
  return wallet.nextIndex - ((wallet.highestPaidIndex ?? -1) + 1) >= ordinaryGapLimit;
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
  if (xpub !== undefined && address === undefined) return readXpub(xpub);
  const message = "give either address or xpub";
  throw invalidFields(
    ["/address", "/xpub"].map((pointer) => ({ pointer, code: "one_of", message })),
  );
}

function readAddress(network: Network, networks: Iterable<Network>, text: string): Receiver {
  const parsed = parseAddress(network.addressForm, text);
  if (!parsed.ok) {
    if (parsed.fault === "zero_address") throw new WalletAddressRefused(parsed.message);
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
  const shownAddress = formatAddress(network.addressForm, address);
  return { kind: "address", identity: address, address, xpub: null, shownAddress };
}

function readXpub(text: string): Receiver {
  const parsed = parseXpub(text);
  if (!parsed.ok) throw invalidField("/xpub", parsed.fault, parsed.message);
  const { xpub } = parsed;
  return {
    kind: "xpub",
    identity: xpubIdentity(xpub),
    address: null,
    xpub,
    shownAddress: fingerprintForm(xpub),
  };
}
