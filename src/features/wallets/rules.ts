import { invalidField, invalidFields } from "../../kernel/errors.ts";
import { formatAddress, parseAddress } from "../../platform/chain/address.ts";
import type { Address } from "../../platform/chain/client.ts";
import type { Network } from "../../platform/chain/networks.ts";
import { fingerprintForm, parseXpub, xpubIdentity } from "../../platform/chain/xpub.ts";
import { WalletAddressRefused } from "./errors.ts";

/** How many unpaid addresses in a row ordinary wallets look through before they stop. */
export const ordinaryGapLimit = 20;

/** Whether an ordinary wallet may miss payments to the next address that is handed out. */
export function hasWideGap(wallet: {
  readonly nextIndex: number;
  readonly highestPaidIndex: number | null;
}): boolean {
  return wallet.nextIndex - ((wallet.highestPaidIndex ?? -1) + 1) >= ordinaryGapLimit;
}

/** What a wallet receives at, read from what was pasted. */
export interface Receiver {
  readonly kind: "address" | "xpub";
  readonly identity: string;
  readonly address: Address | null;
  readonly xpub: string | null;
  readonly shownAddress: string;
}

/**
 * Reads the one of `address` and `xpub` that was given. What is malformed, mistyped or secret is a 400 that names the
 * field and never repeats the text; an address at which money would be lost is a 422.
 */
export function readReceiver(
  network: Network,
  networks: Iterable<Network>,
  given: { readonly address?: string | undefined; readonly xpub?: string | undefined },
): Receiver {
  const { address, xpub } = given;
  if (address !== undefined && xpub === undefined) return readAddress(network, networks, address);
  if (xpub !== undefined && address === undefined) return readXpub(xpub);
  const message = "give exactly one of address and xpub";
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
      `This is the contract of ${token.symbol} on ${title}: money sent to it is lost. Give your own address.`,
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
