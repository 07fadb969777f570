import type { App } from "../../app.ts";
import { setReceiveWallet } from "../../features/billing/invoices/receive-wallet.ts";
import { NetworkNotEnabled, readReceiver } from "../../features/wallets/rules.ts";
import { createWallet } from "../../features/wallets/wallets.ts";
import { Problem } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { isMeantAsExtendedKey } from "../../platform/chain/kinds.ts";
import { findToken, type Network } from "../../platform/chain/networks.ts";
import type { WriteContext } from "../../platform/database/database.ts";
import { UsageError } from "../failures/refusals.ts";

/** A wallet as given on the command line, with the token that a receive wallet receives. */
export interface NamedReceiver {
  readonly network: string;
  readonly receiver: { readonly address: string } | { readonly xpub: string };
  readonly tokenSymbol: string;
}

/**
 * Parses `network:address` or `network:xpub…` as strictly as registering a wallet does, without a store. The token
 * defaults to the network's first one. Throws the errors of wallet registration, and a UsageError for another syntax or
 * a token that the network does not have.
 */
export function parseReceiver(
  networks: readonly Network[],
  text: string,
  symbol?: string,
): NamedReceiver {
  const colon = text.indexOf(":");
  if (colon === -1) {
    throw new UsageError("Give a wallet as network:address, such as tron:T….");
  }
  const id = text.slice(0, colon).trim();
  const pasted = text.slice(colon + 1).trim();
  const network = networks.find((one) => one.id === id);
  if (network === undefined) {
    const enabled = networks.map((one) => one.id).join(", ");
    throw new NetworkNotEnabled(`Choose one of the enabled networks: ${enabled}.`);
  }
  const receiver = isMeantAsExtendedKey(pasted) ? { xpub: pasted } : { address: pasted };
  readReceiver(network, networks, receiver);
  const token = symbol === undefined ? network.tokens[0] : findToken(network, symbol);
  if (token == null) {
    const symbols = network.tokens.map((one) => one.symbol).join(", ");
    throw new UsageError(`Choose a token of ${network.title}: ${symbols}.`);
  }
  return { network: id, receiver, tokenSymbol: token.symbol };
}

/** Returns the reason why `parseReceiver` refuses a text; null if it accepts it. */
export function receiverFault(networks: readonly Network[], text: string): string | null {
  try {
    parseReceiver(networks, text);
    return null;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const [field] = error.errors;
    return field?.message ?? error.message;
  }
}

/**
 * Registers the first wallet of the platform organization, and the receiver of platform invoices, which may be the same
 * wallet. Null: none.
 */
export async function addWallets(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  first: NamedReceiver | null,
  receiving: NamedReceiver | null,
): Promise<void> {
  const add = ({ network, receiver }: NamedReceiver, label: string) =>
    createWallet(app, context, organizationId, { label, network, ...receiver });
  const wallet = first === null ? null : await add(first, "Main");
  if (receiving === null) return;
  const isSame = first !== null && isSameReceiver(first, receiving);
  const { id } = isSame && wallet !== null ? wallet : await add(receiving, "Platform");
  await setReceiveWallet(app, context, { walletId: id, tokenSymbol: receiving.tokenSymbol });
}

function isSameReceiver(one: NamedReceiver, other: NamedReceiver): boolean {
  const text = ({ network, receiver }: NamedReceiver) => JSON.stringify([network, receiver]);
  return text(one) === text(other);
}
