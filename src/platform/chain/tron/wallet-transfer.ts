import { transferData } from "../evm/wallet-transfer.ts";
import type { PaymentRequest, WalletTransfer } from "../networks.ts";
import { formatAddress } from "./address.ts";

/**
 * TRON's wallets give the page a tronWeb, which reads and broadcasts from the page itself, through this node unless the
 * payer has chosen another one. Wallets of EVM networks do so outside of the page.
 */
export const walletOrigins = ["https://api.trongrid.io"];

/** Returns the request for wallets that announce themselves by TIP-6963. */
export function walletTransfer(request: PaymentRequest): WalletTransfer {
  return {
    walletStandard: "tip-6963",
    chainId: `0x${request.chainId.toString(16)}`,
    tokenContract: formatAddress(request.contract),
    recipient: formatAddress(request.to),
    units: request.amount.toString(),
    data: transferData(request),
  };
}
