import type { PaymentRequest, WalletTransfer } from "../networks.ts";
import { formatAddress } from "./address.ts";

/** The first four bytes of keccak256("transfer(address,uint256)"). */
const transferSelector = "a9059cbb";

/** Returns the calldata of `transfer(to, amount)`, with 0x: the selector and two words of 32 bytes. */
export function transferData({ to, amount }: Pick<PaymentRequest, "to" | "amount">): string {
  return `0x${transferSelector}${to.padStart(64, "0")}${amount.toString(16).padStart(64, "0")}`;
}

/** Returns the request for wallets that announce themselves by EIP-6963. */
export function walletTransfer(request: PaymentRequest): WalletTransfer {
  return {
    walletStandard: "eip-6963",
    chainId: `0x${request.chainId.toString(16)}`,
    tokenContract: formatAddress(request.contract),
    recipient: formatAddress(request.to),
    units: request.amount.toString(),
    data: transferData(request),
  };
}
