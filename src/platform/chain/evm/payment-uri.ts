import { formatAddress, type AddressForm } from "./address.ts";
import type { Address } from "../client.ts";

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
 * Returns the text of the QR code for a payment. On TRON that is the bare address, because wallets there reject
 * anything else; on EVM networks an EIP-681 URI with chain, token and amount.
 */
export function paymentUri(request: PaymentRequest): string {
  const to = formatAddress(request.form, request.to);
  if (request.form === "tron") return to;
  const token = formatAddress(request.form, request.contract);
  const amount = request.amount.toString();
  return `ethereum:${token}@${String(request.chainId)}/transfer?address=${to}&uint256=${amount}`;
}
