import type { Asset } from "./asset.ts";
import { isSameAsset } from "./asset.ts";
import { assert, Defect, invalidField, type FieldPlace } from "./errors.ts";
import type { Ratio, Rounding } from "./ratio.ts";
import { divideRounded, formatUnits, magnitude, powerOfTen } from "./ratio.ts";

/** An amount, exact: a whole number of the asset's smallest units. It may be negative. */
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

/** Why a text is not an amount. */
export type MoneyTextReason = "not_decimal" | "too_many_decimals";

/** Thrown for a text that is not an amount of its asset; the message may be shown to who sent it. */
export class MoneyTextError extends Error {
  override readonly name = "MoneyTextError";
  readonly reason: MoneyTextReason;

  constructor(reason: MoneyTextReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The one written form: no sign, exponent, space, separator, leading zero or bare point; ASCII digits alone. */
const unsignedForm = /^(0|[1-9][0-9]{0,17})(?:\.([0-9]+))?$/;
/** Every amount text that is signed, for schemas that know no asset yet; the decimals are the asset's to limit. */
export const signedMoneyPattern = /^-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,36})?$/;
export const moneyPattern = /^(0|[1-9][0-9]{0,17})(\.[0-9]{1,36})?$/;

/**
 * Reads an amount that is not negative: `25`, `25.00`, with at most the asset's decimals and 18 digits before the
 * point. Anything else throws a MoneyTextError.
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

/** Reads an amount that may start with a minus; zero has none. */
export function parseSignedMoney(text: string, asset: Asset): Money {
  if (!text.startsWith("-")) return parseMoney(text, asset);
  const opposite = parseMoney(text.slice(1), asset);
  if (opposite.units === 0n)
    throw new MoneyTextError("not_decimal", "zero is written without a sign");
  return negate(opposite);
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

/** Which amounts a field takes. */
export type MoneyRange = "positive" | "not_negative" | "signed";

/** Reads a request's field: what is no amount, or not in the range, is a 400 that names its place. */
export function parseMoneyField(
  place: string | FieldPlace,
  text: string,
  asset: Asset,
  range: MoneyRange = "positive",
): Money {
  try {
    const parsed = range === "signed" ? parseSignedMoney(text, asset) : parseMoney(text, asset);
    if (range === "positive" && parsed.units === 0n) {
      throw invalidField(place, "not_positive", "must be more than zero");
    }
    return parsed;
  } catch (error) {
    if (error instanceof MoneyTextError) throw invalidField(place, error.reason, error.message);
    throw error;
  }
}

/** The canonical text: at least the asset's display decimals, beyond them no trailing zeros, never an exponent. */
export function formatMoney(amount: Money): string {
  return formatUnits(amount.units, amount.asset.decimals, amount.asset.displayDecimals);
}

/** The same for an amount that may be missing. */
export function formatMoneyOrNull(amount: Money | null): string | null {
  return amount === null ? null : formatMoney(amount);
}

export function add(one: Money, other: Money): Money {
  assertSameAsset(one, other);
  return { units: one.units + other.units, asset: one.asset };
}

export function subtract(one: Money, other: Money): Money {
  assertSameAsset(one, other);
  return { units: one.units - other.units, asset: one.asset };
}

export function negate(amount: Money): Money {
  return { units: -amount.units, asset: amount.asset };
}

/** The sum of amounts of one asset, which is named because there may be none of them. */
export function sum(amounts: Iterable<Money>, asset: Asset): Money {
  let total = zero(asset);
  for (const amount of amounts) total = add(total, amount);
  return total;
}

/** Less than, equal to, or more than: -1, 0 or 1, as a sort wants it. */
export function compare(one: Money, other: Money): -1 | 0 | 1 {
  assertSameAsset(one, other);
  if (one.units === other.units) return 0;
  return one.units < other.units ? -1 : 1;
}

export function min(one: Money, other: Money): Money {
  return compare(one, other) <= 0 ? one : other;
}

export function max(one: Money, other: Money): Money {
  return compare(one, other) >= 0 ? one : other;
}

function assertSameAsset(one: Money, other: Money): void {
  if (isSameAsset(one.asset, other.asset)) return;
  throw new Defect(`an amount in ${describe(one.asset)} met one in ${describe(other.asset)}`);
}

function describe(asset: Asset): string {
  return `${asset.code} of ${String(asset.decimals)} decimals`;
}

/** An amount times a fraction. */
export function multiply(amount: Money, factor: Ratio, rounding: Rounding): Money {
  const units = divideRounded(amount.units * factor.numerator, factor.denominator, rounding);
  return { units, asset: amount.asset };
}

/** An amount divided by a fraction that is not zero. */
export function divide(amount: Money, divisor: Ratio, rounding: Rounding): Money {
  const units = divideRounded(amount.units * divisor.denominator, divisor.numerator, rounding);
  return { units, asset: amount.asset };
}

/**
 * Splits an amount in proportion to weights, to the last unit: the parts add up to the whole. The units that rounding
 * down leaves over go one each to the parts that lost most by it, the earlier first.
 */
export function allocate(amount: Money, weights: readonly bigint[]): Money[] {
  const total = weights.reduce((running, weight) => running + weight, 0n);
  assert(
    total > 0n && weights.every((weight) => weight >= 0n),
    "weights are not negative and not all zero",
  );
  const whole = magnitude(amount.units);
  const shares = weights.map((weight) => (whole * weight) / total);
  const left = shares.reduce((running, share) => running - share, whole);
  const byLoss = weights
    .map((weight, place) => ({ place, loss: (whole * weight) % total }))
    // The sort is stable: the earlier stays first among equals.
    .sort((one, other) => (one.loss === other.loss ? 0 : one.loss < other.loss ? 1 : -1));
  const favoured = new Set(byLoss.slice(0, Number(left)).map(({ place }) => place));
  return shares.map((share, place) => {
    const units = favoured.has(place) ? share + 1n : share;
    return { units: amount.units < 0n ? -units : units, asset: amount.asset };
  });
}
