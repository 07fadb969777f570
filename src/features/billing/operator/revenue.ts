import { day, type Instant } from "../../../kernel/clock.ts";
import { divideRounded } from "../../../kernel/money/ratio.ts";
import { decodeAmount } from "../../../platform/database/schema/table.ts";
import { signedSums } from "../../../platform/database/query/sum-amounts.ts";
import type { Reader } from "../../../platform/database/database.ts";
import { priceOf, type Terms } from "../plans.ts";

/** The recurring revenue of subscriptions in one currency. */
interface RecurringRevenue {
  /** The number of active and past-due subscriptions in all currencies; trials and suspended ones bring no revenue. */
  readonly subscriptions: number;
  /**
   * The sum of their monthly plan prices in this currency, in its smallest unit; a yearly price counts as a twelfth.
   */
  readonly monthly: bigint;
}

const monthsInYear = 12n;

export async function recurringRevenue(
  reader: Reader,
  currency: string,
): Promise<RecurringRevenue> {
  // Grouped by terms, because many subscriptions share those of a plan.
  const groups = await reader.all<{ terms: string; items: number }>(
    `SELECT terms AS "terms", COUNT(*) AS "items" FROM subscriptions
     WHERE status IN ('active', 'past_due') GROUP BY terms`,
  );
  const priced = groups.map(({ terms, items }) => ({ terms: JSON.parse(terms) as Terms, items }));
  // Summed in twelfths of the smallest unit, so that only the sum is rounded, once.
  const twelfths = priced
    .filter(({ terms }) => terms.currency === currency)
    .reduce((sum, { terms, items }) => {
      const months = terms.interval === "year" ? 1n : monthsInYear;
      return sum + priceOf(terms) * months * BigInt(items);
    }, 0n);
  return {
    subscriptions: priced.reduce((sum, { items }) => sum + items, 0),
    monthly: divideRounded(twelfths, monthsInYear, "half_even"),
  };
}

/** The payments of platform invoices on a UTC day, in the currency's smallest unit. */
interface PaidOnDay {
  /** The start of the day. */
  readonly key: Instant;
  readonly items: number;
  readonly total: bigint;
}

/**
 * Sums the confirmed payments of platform invoices per UTC day of their block time, from `from` up to but not including
 * `to`. Days without payments are left out.
 */
export async function platformRevenue(
  reader: Reader,
  currency: string,
  { from, to }: { readonly from: Instant; readonly to: Instant },
): Promise<PaidOnDay[]> {
  const dayOf = `p.block_time - p.block_time % ${String(day)}`;
  const rows = `SELECT ${dayOf} AS key, 1 AS items, 1 AS sign, p.settlement_amount AS amount
    FROM payments p JOIN platform_invoice_twins t ON t.twin_id = p.invoice_id
    WHERE p.organization_id IN (SELECT id FROM organizations WHERE is_platform = 1)
      AND p.status = 'confirmed' AND p.block_time >= $1 AND p.block_time < $2
      AND p.settlement_currency = $3`;
  const found = await reader.all<{ key: Instant; items: number; total: string }>(
    signedSums(reader.dialect, rows),
    [from, to, currency],
  );
  return found.map(({ key, items, total }) => ({ key, items, total: decodeAmount(total) }));
}
