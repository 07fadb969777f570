import type { Invoice } from "./deeds.ts";

/** An option of an invoice that has a hold. */
export interface HeldOption {
  readonly symbol: string;
  readonly address: string;
  /** The whole amount of the invoice in this token. */
  readonly payable: bigint;
  readonly isOwn: boolean;
  readonly isInForce: boolean;
}

/** All of an invoice, as a share. */
export const whole = 10n ** 60n;

/** Returns the options that a payer has been shown, the one in force first. */
export function heldIn(invoice: Invoice): readonly HeldOption[] {
  const { tokenSymbol, walletAddress, payableAmount, addressIndex, paymentOptions } = invoice;
  if (walletAddress === null || payableAmount === null) return [];
  const others = (paymentOptions ?? []).flatMap(({ quote, tokenSymbol: symbol }): HeldOption[] => {
    if (quote === null || symbol === tokenSymbol) return [];
    const { walletAddress: address, payableAmount: payable, addressIndex: index } = quote;
    return [{ symbol, address, payable: BigInt(payable), isOwn: index !== null, isInForce: false }];
  });
  const isOwn = addressIndex !== null;
  return [
    { symbol: tokenSymbol, address: walletAddress, payable: payableAmount, isOwn, isInForce: true },
    ...others,
  ];
}
