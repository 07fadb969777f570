import { currencyDecimals } from "./currencies.ts";

/**
 * What an amount is counted in: a currency or a token. Tokens come from the networks' configuration, where the same
 * symbol may have other decimals on another network; currencies come from ISO 4217.
 */
export interface Asset {
  /** `USD`, `USDT`. */
  readonly code: string;
  /** How many decimal places one whole divides into: amounts are counted in units of 10^-decimals. */
  readonly decimals: number;
  /** The least number of decimals that an amount is written with. */
  readonly displayDecimals: number;
}

/** The most decimals that a token may have: a whole trillion then still fits the store's 78 digits many times over. */
export const maxAssetDecimals = 36;

/**
 * The asset of a token, by the decimals that its contract counts in. Its amounts are written with at least two
 * decimals, as those of most currencies, unless the configuration says otherwise.
 */
export function tokenAsset(code: string, decimals: number, displayDecimals = 2): Asset {
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > maxAssetDecimals) {
    throw new RangeError(`${code} cannot have ${String(decimals)} decimals`);
  }
  return { code, decimals, displayDecimals: Math.min(decimals, displayDecimals) };
}

/** The asset of an ISO 4217 currency; null where the code is none, or has no smaller unit to count in (gold, SDR). */
export function findCurrency(code: string): Asset | null {
  const decimals = currencyDecimals.get(code);
  return decimals === undefined ? null : { code, decimals, displayDecimals: decimals };
}

/**
 * The asset that something was settled in, by the decimals that its row keeps: a currency, or a token as its network
 * counted it then.
 */
export function settlementAsset(code: string, decimals: number): Asset {
  return tokenAsset(code, decimals, findCurrency(code)?.displayDecimals);
}

/** Whether amounts of the two may be added: the same code, counted in the same unit. */
export function isSameAsset(one: Asset, other: Asset): boolean {
  return one.code === other.code && one.decimals === other.decimals;
}
