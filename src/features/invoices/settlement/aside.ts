/** Sums of an invoice's payments in one token that `paidTokenAmount` does not show, in the token's smallest unit. */
export interface AsideFields<Amount> {
  readonly network: string;
  readonly tokenSymbol: string;
  /** The money of rejected payments that is owed to their payer, less its refunds that are sent or confirmed. */
  readonly rejected: Amount;
  /** The payments in review. */
  readonly inReview: Amount;
  /** The refunds of payments that count, sent or confirmed. */
  readonly refunded: Amount;
}

export type Aside = AsideFields<bigint>;
/** The sums as the invoice stores them, in decimal text. */
export type StoredAside = AsideFields<string>;

/** Returns the sums to store, in a fixed order; null if there are none. */
export function storedAside(sums: readonly Aside[]): readonly StoredAside[] | null {
  if (sums.length === 0) return null;
  const keyOf = ({ network, tokenSymbol }: StoredAside) => `${network} ${tokenSymbol}`;
  return sums
    .map(({ network, tokenSymbol, rejected, inReview, refunded }) => ({
      network,
      tokenSymbol,
      rejected: String(rejected),
      inReview: String(inReview),
      refunded: String(refunded),
    }))
    .toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}

export function readAside(stored: readonly StoredAside[] | null): readonly Aside[] {
  return (stored ?? []).map(({ network, tokenSymbol, ...sums }) => ({
    network,
    tokenSymbol,
    rejected: BigInt(sums.rejected),
    inReview: BigInt(sums.inReview),
    refunded: BigInt(sums.refunded),
  }));
}
