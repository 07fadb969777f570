import { Defect, invalidField, type FieldLocation } from "../errors.ts";
import { formatUnits, powerOfTen } from "./ratio.ts";

/** An exact amount: a whole number of the asset's smallest units. It may be negative. */
export interface Money {
  readonly units: bigint;
  readonly asset: Asset;
}

export function money(units: bigint, asset: Asset): Money {
  return { units, asset };
}

export function zero(asset: Asset): Money {
  return { units: 0n, asset };
}

/** The reason why a text is not an amount. */
type MoneyTextReason = "not_decimal" | "too_many_decimals";

/** Thrown for text that is not an amount of the asset. The message may be shown to the sender. */
export class MoneyTextError extends Error {
  override readonly name = "MoneyTextError";
  readonly reason: MoneyTextReason;

  constructor(reason: MoneyTextReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The only accepted form: ASCII digits without sign, exponent, spaces, separators, leading zeros or a bare point. */
const unsignedForm = /^(0|[1-9][0-9]{0,17})(?:\.([0-9]+))?$/;
/** Signed amounts, for schemas that do not know the asset; the asset limits the decimals further. */
export const signedMoneyPattern = /^-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,36})?$/;
export const moneyPattern = /^(0|[1-9][0-9]{0,17})(\.[0-9]{1,36})?$/;

/**
 * Parses a non-negative amount such as `25` or `25.00`, with at most the asset's decimals and 18 digits before the
 * point.
 * @throws MoneyTextError
 */
export function parseMoney(text: string, asset: Asset): Money {
  const match = unsignedForm.exec(text);
  if (match === null) throw new MoneyTextError("not_decimal", notDecimal(asset));
  const [, whole = "", fraction = ""] = match;
  if (fraction.length > asset.decimals) {
    throw new MoneyTextError("too_many_decimals", tooManyDecimals(asset));
  }
  return { units: BigInt(whole + fraction.padEnd(asset.decimals, "0")), asset };
}

/** Parses an amount that may start with a minus sign; "-0" is refused. */
export function parseSignedMoney(text: string, asset: Asset): Money {
  if (!text.startsWith("-")) return parseMoney(text, asset);
  const opposite = parseMoney(text.slice(1), asset);
  if (opposite.units === 0n)
    throw new MoneyTextError("not_decimal", "zero is written without a sign");
  return { units: -opposite.units, asset };
}

function notDecimal(asset: Asset): string {
  const example = formatUnits(
    25n * powerOfTen(asset.decimals),
    asset.decimals,
    asset.displayDecimals,
  );
  return `must be an amount as plain decimal text such as "${example}", with at most 18 digits before the point`;
}

function tooManyDecimals(asset: Asset): string {
  if (asset.decimals === 0) return `${asset.code} has no decimals`;
  return `${asset.code} has at most ${String(asset.decimals)} decimals`;
}

/** The range of amounts that a field accepts. */
type MoneyRange = "positive" | "not_negative" | "signed";

/**
 * Parses an amount in a request. Text that is not an amount, or is out of range, is a 400 problem that names the field.
 */
export function parseMoneyField(
  location: string | FieldLocation,
  text: string,
  asset: Asset,
  range: MoneyRange = "positive",
): Money {
  try {
    const parsed = range === "signed" ? parseSignedMoney(text, asset) : parseMoney(text, asset);
    if (range === "positive" && parsed.units === 0n) {
      throw invalidField(location, "not_positive", "must be more than zero");
    }
    return parsed;
  } catch (error) {
    if (error instanceof MoneyTextError) throw invalidField(location, error.reason, error.message);
    throw error;
  }
}

/**
 * Formats an amount in its canonical form: at least the asset's display decimals, no further trailing zeros, no
 * exponent.
 */
export function formatMoney(amount: Money): string {
  return formatUnits(amount.units, amount.asset.decimals, amount.asset.displayDecimals);
}

export function add(one: Money, other: Money): Money {
  assertSameAsset(one, other);
  return { units: one.units + other.units, asset: one.asset };
}

export function subtract(one: Money, other: Money): Money {
  assertSameAsset(one, other);
  return { units: one.units - other.units, asset: one.asset };
}

/** Returns the sum of amounts of one asset. The asset is a parameter because the list may be empty. */
export function sum(amounts: Iterable<Money>, asset: Asset): Money {
  let total = zero(asset);
  for (const amount of amounts) total = add(total, amount);
  return total;
}

function assertSameAsset(one: Money, other: Money): void {
  if (isSameAsset(one.asset, other.asset)) return;
  throw new Defect(`an amount in ${describe(one.asset)} met one in ${describe(other.asset)}`);
}

function describe(asset: Asset): string {
  return `${asset.code} of ${String(asset.decimals)} decimals`;
}

/**
 * The active ISO 4217 codes by the number of decimals of their minor unit, as of January 2026, with funds and units of
 * account. Codes without a minor unit (metals, special drawing rights, test codes) are left out: no invoice can be
 * issued in them.
 */
const codesByDecimals: Readonly<Record<number, string>> = {
  0: `BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF`,
  2: `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY
      COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS
      INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR
      MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP
      STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG`,
  3: `BHD IQD JOD KWD LYD OMR TND`,
  4: `CLF UYW`,
};

export const currencyDecimals: ReadonlyMap<string, number> = new Map(
  Object.entries(codesByDecimals).flatMap(([decimals, codes]) =>
    codes.split(/\s+/).map((code) => [code, Number(decimals)] as const),
  ),
);

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
