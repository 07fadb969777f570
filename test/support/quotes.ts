import type { Quote } from "../../src/features/invoices/options/quotes.ts";

/** The quote of an invoice that nobody has paid. */
export function aQuote(given: Pick<Quote, "payableAmount"> & Partial<Quote>): Quote {
  const { payableAmount } = given;
  return {
    network: "ethereum",
    tokenSymbol: "USDT",
    tokenDecimals: 6,
    requiredConfirmations: 3,
    exchangeRate: "1",
    walletId: null,
    walletAddress: "0x0",
    addressIndex: null,
    askedAmount: null,
    dustAmount: null,
    remainingAmount: payableAmount,
    remainingAfter: 0n,
    seen: 0n,
    confirmed: 0n,
    latestBlock: null,
    ...given,
  };
}
