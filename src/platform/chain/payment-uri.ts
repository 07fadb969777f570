import { formatAddress, type AddressForm } from "./address.ts";
import type { Address } from "./client.ts";

export interface PaymentRequest {
  readonly form: AddressForm;
  readonly chainId: number;
  /** The token's contract. */
  readonly contract: Address;
  readonly to: Address;
  /** In the token's smallest unit. */
  readonly amount: bigint;
}

/**
 * What a payment's QR code says. On TRON the bare address, because wallets there refuse anything else; on EVM networks
 * EIP-681, which names chain, token and amount.
 */
export function paymentUri(request: PaymentRequest): string {
  const to = formatAddress(request.form, request.to);
  if (request.form === "tron") return to;
  const token = formatAddress(request.form, request.contract);
  const amount = request.amount.toString();
  return `ethereum:${token}@${String(request.chainId)}/transfer?address=${to}&uint256=${amount}`;
}
