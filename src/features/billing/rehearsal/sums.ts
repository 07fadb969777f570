import { settlementAsset } from "../../../kernel/money/asset.ts";
import { formatMoney, money } from "../../../kernel/money/money.ts";
import { toIso } from "../../../kernel/clock.ts";
import type { PlatformInvoiceRow } from "../table.ts";

type Summed = Pick<
  PlatformInvoiceRow,
  | ("status" | "currency" | "decimals" | "issuedAt" | "twinId")
  | ("subtotal" | "discountTotal" | "creditTotal" | "total")
>;

/**
 * The sums of the platform invoices of one month and currency, as decimal text. Subtotal − discounts − credits = total
 * = paid + carried + unpaid. Void invoices are only counted.
 */
export interface MonthlySum {
  /** The UTC month of the issue, such as `2026-12`; null: all months. */
  readonly month: string | null;
  readonly currency: string;
  readonly invoices: number;
  readonly voided: number;
  readonly subtotal: string;
  readonly discounts: string;
  readonly credits: string;
  readonly total: string;
  readonly paid: string;
  /** Totals too small to be collected, which the next invoice contains again as an adjustment. */
  readonly carried: string;
  readonly unpaid: string;
}

interface Sum {
  readonly decimals: number;
  invoices: number;
  voided: number;
  readonly amounts: Record<Amount, bigint>;
}

const amounts = [
  ...(["subtotal", "discounts", "credits", "total"] as const),
  ...(["paid", "carried", "unpaid"] as const),
] as const;
type Amount = (typeof amounts)[number];

/** Adds platform invoices up by month of issue and by currency. */
export interface MonthlySums {
  add(invoice: Summed): void;
  /** Returns the sums by currency and month; `foot` returns those of all months. */
  months(): readonly MonthlySum[];
  foot(): readonly MonthlySum[];
}

export function makeMonthlySums(): MonthlySums {
  const sums = new Map<string, Map<string, Sum>>();
  const feet = new Map<string, Sum>();

  return {
    add(invoice) {
      const { currency, issuedAt, decimals } = invoice;
      const month = toIso(issuedAt).slice(0, "2026-12".length);
      const own = sums.get(currency) ?? new Map<string, Sum>();
      sums.set(currency, own);
      const inMonth = own.get(month) ?? emptySum(decimals);
      own.set(month, inMonth);
      const foot = feet.get(currency) ?? emptySum(decimals);
      feet.set(currency, foot);
      for (const sum of [inMonth, foot]) addTo(sum, invoice);
    },
    months: () =>
      sorted(sums).flatMap(([currency, own]) =>
        sorted(own).map(([month, sum]) => present(month, currency, sum)),
      ),
    foot: () => sorted(feet).map(([currency, sum]) => present(null, currency, sum)),
  };
}

function emptySum(decimals: number): Sum {
  const zeros = Object.fromEntries(amounts.map((name) => [name, 0n])) as Record<Amount, bigint>;
  return { decimals, invoices: 0, voided: 0, amounts: zeros };
}

function addTo(sum: Sum, invoice: Summed): void {
  if (invoice.status === "void") {
    sum.voided += 1;
    return;
  }
  const { total, status, twinId } = invoice;
  sum.invoices += 1;
  sum.amounts.subtotal += invoice.subtotal;
  sum.amounts.discounts += invoice.discountTotal;
  sum.amounts.credits += invoice.creditTotal;
  sum.amounts.total += total;
  // An invoice that nobody is asked to pay counts as paid, but its total is charged again.
  const end = status !== "paid" ? "unpaid" : twinId === null ? "carried" : "paid";
  sum.amounts[end] += total;
}

function present(month: string | null, currency: string, sum: Sum): MonthlySum {
  const { decimals, invoices, voided } = sum;
  const asset = settlementAsset(currency, decimals);
  const shown = amounts.map((name) => [name, formatMoney(money(sum.amounts[name], asset))]);
  return {
    month,
    currency,
    invoices,
    voided,
    ...(Object.fromEntries(shown) as Record<Amount, string>),
  };
}

function sorted<T>(map: ReadonlyMap<string, T>): readonly (readonly [string, T])[] {
  return [...map].sort(([one], [other]) => (one < other ? -1 : 1));
}
