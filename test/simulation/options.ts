import type { Invoice } from "./deeds.ts";

/** An option of an invoice that has a hold. */
export interface HeldOption {
  readonly symbol: string;
  readonly address: string;
  /** The whole amount of the invoice in this token. */
  readonly payable: bigint;
  /** The token's dust: one hundredth of every token of the stage. */
  readonly dust: bigint;
  readonly isOwn: boolean;
  readonly isInForce: boolean;
}

/** The dust of a token of the stage, in its smallest unit. */
export function dustOf(tokenDecimals: number): bigint {
  return 10n ** BigInt(tokenDecimals - 2);
}

/** Returns the options that a payer has been shown, the one in force first. */
export function heldIn(invoice: Invoice): readonly HeldOption[] {
  const { tokenSymbol, walletAddress, payableAmount, addressIndex, paymentOptions } = invoice;
  if (walletAddress === null || payableAmount === null) return [];
  const others = (paymentOptions ?? []).flatMap(({ quote, tokenSymbol: symbol }): HeldOption[] => {
    if (quote === null || symbol === tokenSymbol) return [];
    const { walletAddress: address, addressIndex: index } = quote;
    const [payable, dust] = [BigInt(quote.payableAmount), dustOf(quote.tokenDecimals)];
    return [{ symbol, address, payable, dust, isOwn: index !== null, isInForce: false }];
  });
  const inForce: HeldOption = {
    symbol: tokenSymbol,
    address: walletAddress,
    payable: payableAmount,
    dust: dustOf(invoice.tokenDecimals),
    isOwn: addressIndex !== null,
    isInForce: true,
  };
  return [inForce, ...others];
}
