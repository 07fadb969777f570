import type { InTx } from "../../app.ts";
import { invalidField } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import type { Address } from "../../platform/chain/client.ts";
import { looksLikeAnySecret, parseAnyAddress } from "../../platform/chain/kinds.ts";
import { secretWarning } from "../../platform/chain/looks-like-secret.ts";
import type { Network } from "../../platform/chain/networks.ts";
import type { Reader } from "../../platform/database/database.ts";
import { addressOwners } from "../wallets/store.ts";
import { RefundAddressRefused } from "./errors.ts";

/**
 * Parses the address of a refund on a network. A malformed or mistyped text, a secret and an address of another network
 * are a 400 that never repeats the text; 422 `refund_address_refused` for an address where the money would be lost, or
 * would come back to the merchant. `paidTo` is the address that received the payment.
 */
export async function readRefundAddress(
  reader: Reader,
  { networks }: InTx,
  network: Network,
  organizationId: Id<"organization">,
  { text, paidTo }: { readonly text: string; readonly paidTo: Address },
): Promise<Address> {
  if (looksLikeAnySecret(text)) throw invalidField("/address", "secret", secretWarning);
  const parsed = network.kind.parseAddress(text);
  if (!parsed.ok) {
    if (parsed.fault === "zero_address") throw new RefundAddressRefused(parsed.message);
    const isOther = parsed.fault === "malformed" && parseAnyAddress(text) !== null;
    const message = isOther
      ? `This is an address of another network; the refund is paid on ${network.title}. ${parsed.message}`
      : parsed.message;
    throw invalidField("/address", isOther ? "wrong_network" : parsed.fault, message);
  }
  const { address } = parsed;
  for (const { tokens, title } of networks.known.values()) {
    const token = tokens.find(({ contract }) => contract === address);
    if (token === undefined) continue;
    throw new RefundAddressRefused(
      `This is the contract of ${token.symbol} on ${title}; tokens sent to it are lost. Give the address of the payer's wallet.`,
    );
  }
  const owners = await addressOwners(reader, network.addressFamily, [address]);
  if (address === paidTo || owners.get(address) === organizationId) {
    throw new RefundAddressRefused(
      "This is an address of the merchant's own wallets. Give the address of the payer's wallet.",
    );
  }
  return address;
}
