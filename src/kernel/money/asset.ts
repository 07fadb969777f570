import { currencyDecimals } from "./currencies.ts";

/**
 * The unit of an amount: a currency or a token. Tokens come from the network table, where the same symbol may have
 * other decimals on another network; currencies come from ISO 4217.
 */
export interface Asset {
  /** The symbol, for example `USD` or `USDT`. */
  readonly code: string;
  /** The number of decimal places: amounts are counted in units of 10^-decimals. */
  readonly decimals: number;
  /** The minimum number of decimals that an amount is written with. */
  readonly displayDecimals: number;
}

/**
 * The maximum number of decimals of a token. A trillion whole tokens still fits far below the 78 digits of the store.
 */
export const maxAssetDecimals = 36;

/**
 * Returns the asset of a token whose contract counts in the given decimals. Like most currencies, its amounts are
 * written with at least two decimals unless the configuration says otherwise.
 */
export function tokenAsset(code: string, decimals: number, displayDecimals = 2): Asset {
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > maxAssetDecimals) {
    throw new RangeError(`${code} cannot have ${String(decimals)} decimals`);
  }
  return { code, decimals, displayDecimals: Math.min(decimals, displayDecimals) };
}

/** Returns an ISO 4217 currency; null if the code is unknown or has no minor unit (gold, SDR). */
export function findCurrency(code: string): Asset | null {
  const decimals = currencyDecimals.get(code);
  return decimals === undefined ? null : { code, decimals, displayDecimals: decimals };
}

/**
 * Returns the asset of a stored amount from the code and decimals in its row: a currency, or a token with the decimals
 * that its network had at that time.
 */
export function settlementAsset(code: string, decimals: number): Asset {
  return tokenAsset(code, decimals, findCurrency(code)?.displayDecimals);
}

/** True if amounts of both can be added: same code, same decimals. */
export function isSameAsset(one: Asset, other: Asset): boolean {
  return one.code === other.code && one.decimals === other.decimals;
}
