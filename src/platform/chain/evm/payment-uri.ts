import type { PaymentRequest } from "../networks.ts";
import { formatAddress } from "./address.ts";

/** Returns an EIP-681 URI with the chain, the token and the amount. */
export function paymentUri({ chainId, contract, to, amount }: PaymentRequest): string {
  return (
    `ethereum:${formatAddress(contract)}@${String(chainId)}/transfer` +
    `?address=${formatAddress(to)}&uint256=${amount.toString()}`
  );
}
