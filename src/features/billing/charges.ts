import { formatMoney, money, tokenAsset } from "../../kernel/money/money.ts";
import type { Instant } from "../../kernel/clock.ts";
import { assert } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { divideRounded, formatPercent, type Ratio } from "../../kernel/money/ratio.ts";

/** The kinds of lines, in the order of the computation. */
export const lineKinds = ["plan", "usage", "adjustment", "discount", "credit"] as const;
export type LineKind = (typeof lineKinds)[number];

interface AdjustmentInput {
  readonly id: Id<"adjustment">;
  /** A positive amount is charged, a negative one is deducted. */
  readonly amount: bigint;
  readonly description: string;
}

interface DiscountTerms {
  readonly id: Id<"discount">;
  readonly reason: string;
  /** How many invoices it applies to; null: all. */
  readonly periods: number | null;
  readonly periodsUsed: number;
}

export type DiscountInput = DiscountTerms &
  (
    | { readonly kind: "percent"; readonly share: Ratio }
    | { readonly kind: "fixed"; readonly amount: bigint; readonly currency: string }
  );

export interface CreditInput {
  readonly id: Id<"credit">;
  readonly remaining: bigint;
  readonly currency: string;
  readonly expiresAt: Instant | null;
  readonly reason: string;
}

/** All inputs of a platform invoice's computation. Amounts are in the smallest units of its currency. */
export interface ChargeInputs {
  readonly currency: string;
  readonly decimals: number;
  /** The time of issue: credits that have expired by then are not used. */
  readonly at: Instant;
  /** The plan of the period that begins. */
  readonly plan: { readonly name: string; readonly price: bigint };
  /** The usage of the period that ended, under its own plan; null without such a period, and after a trial. */
  readonly usage: {
    readonly planName: string;
    readonly count: number;
    /** Null: unlimited. */
    readonly included: number | null;
    /** Null: the plan allows none beyond the included ones. */
    readonly overagePrice: bigint | null;
  } | null;
  /** The pending adjustments in the invoice's currency. */
  readonly adjustments: readonly AdjustmentInput[];
  readonly discounts: readonly DiscountInput[];
  readonly credits: readonly CreditInput[];
  /** A smaller total is not collected but carried forward to the next invoice. */
  readonly minCollectable: bigint;
}

interface ChargeLine {
  readonly kind: LineKind;
  readonly description: string;
  readonly quantity: number;
  readonly unitAmount: bigint;
  /** The line's part of the total; negative if it reduces the total. */
  readonly amount: bigint;
  /** The id of the adjustment, discount or credit that the line applies; null for other lines. */
  readonly sourceId: string | null;
}

/** The lines and totals of a platform invoice, and the credits, discounts and adjustments that it uses. */
export interface Charges {
  readonly lines: readonly ChargeLine[];
  readonly subtotal: bigint;
  readonly discountTotal: bigint;
  /** Negative if a negative sum becomes a new credit. */
  readonly creditTotal: bigint;
  /** subtotal − discountTotal − creditTotal; never negative. */
  readonly total: bigint;
  readonly discountUses: readonly { readonly id: Id<"discount">; readonly amount: bigint }[];
  readonly creditUses: readonly { readonly id: Id<"credit">; readonly amount: bigint }[];
  readonly adjustmentIds: readonly Id<"adjustment">[];
  /** The amount of the new credit to grant; zero: none. */
  readonly newCredit: bigint;
  /** The amount of the new pending adjustment that carries the total forward to the next invoice; zero: none. */
  readonly carried: bigint;
  /** Whether the total is to be paid; otherwise the invoice is paid as soon as it is issued. */
  readonly isCollected: boolean;
}

/**
 * Computes a platform invoice, for issues, previews and checks alike. Plan, usage and adjustments make up the subtotal.
 * Discounts reduce the plan and usage charges, percentages before fixed amounts. Then credits pay, those that expire
 * first before the others. Each percentage discount is rounded once, half away from zero. Checks compare stored lines
 * with recomputed ones, so changing the text of a line would fail them.
 */
export function computeCharges(inputs: ChargeInputs): Charges {
  const services = [planLine(inputs), ...usageLines(inputs)];
  const adjustments = [...inputs.adjustments].sort(byId);
  const adjustmentLines = adjustments.map(adjustmentLine);
  const subtotal = totalOf(services) + totalOf(adjustmentLines);

  const discounted = subtotal > 0n ? discount(inputs, totalOf(services)) : [];
  const discountTotal = -totalOf(discounted);
  const afterDiscounts = subtotal - discountTotal;

  const newCredit = afterDiscounts < 0n ? -afterDiscounts : 0n;
  const credited = newCredit > 0n ? [balanceLine(newCredit)] : takeCredits(inputs, afterDiscounts);
  const creditTotal = -totalOf(credited);
  const total = subtotal - discountTotal - creditTotal;

  const lines = [...services, ...adjustmentLines, ...discounted, ...credited];
  assert(total >= 0n && totalOf(lines) === total, "an invoice's lines add up to its total");
  const isCarried = total < inputs.minCollectable;
  return {
    lines,
    subtotal,
    discountTotal,
    creditTotal,
    total,
    newCredit,
    discountUses: usesOf(discounted) as Charges["discountUses"],
    creditUses: newCredit > 0n ? [] : (usesOf(credited) as Charges["creditUses"]),
    adjustmentIds: adjustments.map(({ id }) => id),
    carried: isCarried ? total : 0n,
    isCollected: total > 0n && !isCarried,
  };
}

function planLine({ plan }: ChargeInputs): ChargeLine {
  return line("plan", `${plan.name} plan`, 1, plan.price);
}

function usageLines({ usage }: ChargeInputs): ChargeLine[] {
  if (usage === null || usage.included === null || usage.overagePrice === null) return [];
  const beyond = Math.max(0, usage.count - usage.included);
  if (beyond === 0) return [];
  const included = `${String(usage.included)} included in ${usage.planName}`;
  return [line("usage", `Invoices beyond the ${included}`, beyond, usage.overagePrice)];
}

function adjustmentLine({ id, amount, description }: AdjustmentInput): ChargeLine {
  return line("adjustment", description, 1, amount, id);
}

/** Returns the line that turns a negative sum into a credit for later invoices. */
function balanceLine(amount: bigint): ChargeLine {
  return line("credit", "Credited for later invoices", 1, amount);
}

/**
 * Applies each discount to the amount that the previous ones left. The excess of a fixed discount is forfeited; a
 * discount that would take nothing is not used.
 */
function discount(inputs: ChargeInputs, base: bigint): ChargeLine[] {
  const usable = inputs.discounts
    .filter(({ periods, periodsUsed }) => periods === null || periodsUsed < periods)
    .sort(byId);
  const percents = usable.filter((one) => one.kind === "percent");
  const fixed = usable.filter((one) => one.kind === "fixed" && one.currency === inputs.currency);
  let left = base;
  return [...percents, ...fixed].flatMap((one) => {
    const wanted =
      one.kind === "percent"
        ? divideRounded(left * one.share.numerator, one.share.denominator, "half_away")
        : one.amount;
    const taken = wanted < left ? wanted : left;
    if (taken <= 0n) return [];
    left -= taken;
    return [line("discount", discountWords(one, inputs), 1, -taken, one.id)];
  });
}

function discountWords(one: DiscountInput, { currency, decimals }: ChargeInputs): string {
  const share =
    one.kind === "percent"
      ? `${formatPercent(one.share)} %`
      : `${formatMoney(money(one.amount, tokenAsset(currency, decimals)))} ${currency}`;
  return `Discount of ${share}: ${one.reason}`;
}

function takeCredits(inputs: ChargeInputs, due: bigint): ChargeLine[] {
  const usable = inputs.credits
    .filter(({ currency }) => currency === inputs.currency)
    .filter(({ expiresAt }) => expiresAt === null || expiresAt > inputs.at)
    .sort(soonestFirst);
  let left = due;
  return usable.flatMap(({ id, remaining, reason }) => {
    const taken = remaining < left ? remaining : left;
    if (taken <= 0n) return [];
    left -= taken;
    return [line("credit", `Credit: ${reason}`, 1, -taken, id)];
  });
}

function soonestFirst(one: CreditInput, other: CreditInput): number {
  if (one.expiresAt === other.expiresAt) return byId(one, other);
  return (one.expiresAt ?? Infinity) - (other.expiresAt ?? Infinity);
}

/** Ids sort in the order of their creation. */
function byId(one: { readonly id: string }, other: { readonly id: string }): number {
  return one.id < other.id ? -1 : 1;
}

function line(
  kind: LineKind,
  description: string,
  quantity: number,
  unitAmount: bigint,
  sourceId: string | null = null,
): ChargeLine {
  return {
    kind,
    description,
    quantity,
    unitAmount,
    amount: BigInt(quantity) * unitAmount,
    sourceId,
  };
}

function totalOf(lines: readonly ChargeLine[]): bigint {
  return lines.reduce((total, { amount }) => total + amount, 0n);
}

/** Returns the amounts that lines took from their discounts or credits. */
function usesOf(
  lines: readonly ChargeLine[],
): { readonly id: string | null; readonly amount: bigint }[] {
  return lines.map(({ sourceId, amount }) => ({ id: sourceId, amount: -amount }));
}

/** The JSON form of a value, with bigints as `{ units: "…" }`. */
type Frozen<T> = T extends bigint
  ? { readonly units: string }
  : T extends readonly (infer Item)[]
    ? readonly Frozen<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: Frozen<T[K]> }
      : T;

/** The inputs as stored with an invoice. */
export type FrozenInputs = Frozen<ChargeInputs>;

export function freezeInputs(inputs: ChargeInputs): FrozenInputs {
  const text = JSON.stringify(inputs, (_key, value: unknown) =>
    typeof value === "bigint" ? { units: value.toString() } : value,
  );
  return JSON.parse(text) as FrozenInputs;
}

/** Restores the inputs that an invoice was computed from, to recompute it. */
export function thawInputs(frozen: FrozenInputs): ChargeInputs {
  return JSON.parse(JSON.stringify(frozen), (_key, value: unknown) =>
    isFrozenUnits(value) ? BigInt(value.units) : value,
  ) as ChargeInputs;
}

function isFrozenUnits(value: unknown): value is { readonly units: string } {
  return typeof value === "object" && value !== null && "units" in value;
}
