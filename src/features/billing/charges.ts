import { tokenAsset } from "../../kernel/asset.ts";
import type { Instant } from "../../kernel/clock.ts";
import { assert } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { formatMoney, money } from "../../kernel/money.ts";
import { formatPercent } from "../../kernel/percent.ts";
import { divideRounded, type Ratio } from "../../kernel/ratio.ts";

/** What a line is about, in the order of the computation. */
export const lineKinds = ["plan", "usage", "adjustment", "discount", "credit"] as const;
export type LineKind = (typeof lineKinds)[number];

export interface AdjustmentInput {
  readonly id: Id<"adjustment">;
  /** Above zero it charges, below zero it gives back. */
  readonly amount: bigint;
  readonly description: string;
}

interface DiscountTerms {
  readonly id: Id<"discount">;
  readonly reason: string;
  /** How many invoices it lowers; null: all. */
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

/** All that a platform invoice is computed from. Amounts are in the smallest units of its currency. */
export interface ChargeInputs {
  readonly currency: string;
  readonly decimals: number;
  /** When it is issued: credits that expire by then are not taken. */
  readonly at: Instant;
  /** The plan of the period that begins. */
  readonly plan: { readonly name: string; readonly price: bigint };
  /** What was used in the period that ended, under the plan that it had; null where there was none, or a trial. */
  readonly usage: {
    readonly planName: string;
    readonly count: number;
    /** Null: any number. */
    readonly included: number | null;
    /** Null: there are none beyond those included. */
    readonly overagePrice: bigint | null;
  } | null;
  /** Pending ones in the invoice's currency. */
  readonly adjustments: readonly AdjustmentInput[];
  readonly discounts: readonly DiscountInput[];
  readonly credits: readonly CreditInput[];
  /** A smaller total is not collected and carried into the next invoice. */
  readonly minCollectable: bigint;
}

export interface ChargeLine {
  readonly kind: LineKind;
  readonly description: string;
  readonly quantity: number;
  readonly unitAmount: bigint;
  /** What it adds to the total; below zero it lowers it. */
  readonly amount: bigint;
  /** The adjustment, discount or credit that it is about. */
  readonly sourceId: string | null;
}

/** What a platform invoice asks for, and what it takes for that. */
export interface Charges {
  readonly lines: readonly ChargeLine[];
  readonly subtotal: bigint;
  readonly discountTotal: bigint;
  /** Below zero where what remained of a negative sum becomes a credit. */
  readonly creditTotal: bigint;
  /** Never below zero; subtotal − discountTotal − creditTotal. */
  readonly total: bigint;
  readonly discountUses: readonly { readonly id: Id<"discount">; readonly amount: bigint }[];
  readonly creditUses: readonly { readonly id: Id<"credit">; readonly amount: bigint }[];
  readonly adjustmentIds: readonly Id<"adjustment">[];
  /** What a new credit is to be granted of; zero: none. */
  readonly newCredit: bigint;
  /** What a new pending adjustment is to carry into the next invoice; zero: nothing. */
  readonly carried: bigint;
  /** Whether there is anything to be paid; else the invoice is paid when it is issued. */
  readonly isCollected: boolean;
}

/**
 * Computes a platform invoice: plan, usage and adjustments make the subtotal; discounts lower what plan and usage cost,
 * percentages before fixed ones; then credits pay, those that expire first before the others. Each usage line and each
 * discount is rounded once, half away from zero. Previews and issued invoices are both made here.
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
    ...{ lines, subtotal, discountTotal, creditTotal, total, newCredit },
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

/** What is left of a sum below zero is the organization's. */
function balanceLine(amount: bigint): ChargeLine {
  return line("credit", "Credited for later invoices", 1, amount);
}

/** Each takes from what those before it left; what is beyond that is forfeited, and one that takes nothing is not used. */
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

/** Ids sort as they were made. */
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

/** What lines took of that which they are about. */
function usesOf(
  lines: readonly ChargeLine[],
): { readonly id: string | null; readonly amount: bigint }[] {
  return lines.map(({ sourceId, amount }) => ({ id: sourceId, amount: -amount }));
}

/** What JSON can hold of a value: bigints as `{ units: "…" }`. */
type Frozen<T> = T extends bigint
  ? { readonly units: string }
  : T extends readonly (infer Item)[]
    ? readonly Frozen<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: Frozen<T[K]> }
      : T;

/** The inputs as an invoice keeps them. */
export type FrozenInputs = Frozen<ChargeInputs>;

export function freezeInputs(inputs: ChargeInputs): FrozenInputs {
  const text = JSON.stringify(inputs, (_key, value: unknown) =>
    typeof value === "bigint" ? { units: value.toString() } : value,
  );
  return JSON.parse(text) as FrozenInputs;
}

/** The inputs that an invoice was computed from, to compute it again. */
export function thawInputs(frozen: FrozenInputs): ChargeInputs {
  return JSON.parse(JSON.stringify(frozen), (_key, value: unknown) =>
    isFrozenUnits(value) ? BigInt(value.units) : value,
  ) as ChargeInputs;
}

function isFrozenUnits(value: unknown): value is { readonly units: string } {
  return typeof value === "object" && value !== null && "units" in value;
}
