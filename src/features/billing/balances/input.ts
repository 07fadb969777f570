import { findCurrency, type Asset } from "../../../kernel/money/asset.ts";
import type { Instant } from "../../../kernel/clock.ts";
import { invalidField } from "../../../kernel/errors.ts";
import { formatMoney, parseMoneyField, type Money } from "../../../kernel/money/money.ts";
import { formatPercent, parsePercentField } from "../../../kernel/money/percent.ts";
import { magnitude, powerOfTen } from "../../../kernel/money/ratio.ts";
import { BillingAmountTooLarge, CurrencyNotBilled, DiscountCurrencyMismatch } from "../errors.ts";
import type { DiscountRow } from "../table.ts";

/** The largest amount of a credit, a discount or an adjustment, in whole units of its currency. */
const largestAmount = 10n ** 12n;

export interface CreditInput {
  readonly amount: string;
  readonly currency: string;
  readonly reason: string;
  /** ISO 8601. */
  readonly expiresAt?: string | null | undefined;
}

export interface DiscountInput {
  readonly kind: "percent" | "fixed";
  /** A percentage, or an amount of `currency`. */
  readonly value: string;
  readonly currency?: string | null | undefined;
  /** How many invoices it applies to; all if absent. */
  readonly periods?: number | null | undefined;
  readonly reason: string;
}

export interface AdjustmentInput {
  /** A positive amount is charged, a negative one is deducted. */
  readonly amount: string;
  readonly currency: string;
  readonly description: string;
}

/**
 * Parses a credit's amount and expiry time. A malformed amount or an expiry time in the past is a 400 that names the
 * field. Also throws `currency_not_billed` and `billing_amount_too_large`.
 */
export function readCredit(
  input: CreditInput,
  now: Instant,
): { readonly amount: Money; readonly expiresAt: Instant | null } {
  const amount = parseMoneyField("/amount", input.amount, readCurrency(input.currency));
  refuseTooLarge(amount);
  const expiresAt = input.expiresAt == null ? null : Date.parse(input.expiresAt);
  if (expiresAt !== null && expiresAt <= now) {
    throw invalidField("/expiresAt", "in_the_past", "must be in the future");
  }
  return { amount, expiresAt };
}

/**
 * Parses a discount's value and currency. Throws a 422, `discount_currency_mismatch`, if a fixed discount has no
 * currency or a percentage has one.
 */
export function readDiscount({
  kind,
  value,
  currency = null,
}: DiscountInput): Pick<DiscountRow, "value" | "currency" | "decimals"> {
  if (kind === "percent") {
    if (currency !== null) {
      throw new DiscountCurrencyMismatch(
        "A percentage applies to invoices in every currency: leave out `currency`.",
      );
    }
    const share = parsePercentField("/value", value);
    if (share.numerator === 0n) throw notPositive("/value");
    return { value: formatPercent(share), currency: null, decimals: null };
  }
  if (currency === null) {
    throw new DiscountCurrencyMismatch("A fixed discount is an amount: give its `currency`.");
  }
  const asset = readCurrency(currency);
  const amount = parseMoneyField("/value", value, asset);
  refuseTooLarge(amount);
  return { value: formatMoney(amount), currency: asset.code, decimals: asset.decimals };
}

/** Parses an adjustment's amount, which may be negative but not zero. */
export function readAdjustment(input: AdjustmentInput): Money {
  const amount = parseMoneyField("/amount", input.amount, readCurrency(input.currency), "signed");
  if (amount.units === 0n) throw invalidField("/amount", "zero", "must not be zero");
  refuseTooLarge(amount);
  return amount;
}

function notPositive(pointer: string): Error {
  return invalidField(pointer, "not_positive", "must be more than zero");
}

function readCurrency(code: string): Asset {
  const asset = findCurrency(code);
  if (asset !== null) return asset;
  throw new CurrencyNotBilled(
    `"${code}" is not a currency in which plans are billed. Give an ISO 4217 code such as USD, in capital letters.`,
  );
}

function refuseTooLarge({ units, asset }: Money): void {
  if (magnitude(units) <= largestAmount * powerOfTen(asset.decimals)) return;
  throw new BillingAmountTooLarge(`The largest amount is ${String(largestAmount)} ${asset.code}.`);
}
