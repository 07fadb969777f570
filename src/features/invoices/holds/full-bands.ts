import type { Instant } from "../../../kernel/clock.ts";
import { encodeAmount, type SqlValue, type Tx } from "../../../platform/database/index.ts";
import { skipLocked } from "../../../platform/database/write/locks.ts";
import type { HoldPlace } from "./amount-search.ts";
import { finestStep, placesIn, type AmountRange } from "./amounts.ts";
import { unstoredHolds } from "./unstored-holds.ts";

/** Finds the smallest surcharged amount that no live hold has, by binary search; null if every amount is held. */
export async function findGap(
  tx: Tx,
  place: HoldPlace,
  range: AmountRange,
): Promise<bigint | null> {
  const step = finestStep(range);
  const heldBetween = (first: bigint, last: bigint) =>
    countHeld(tx, place, range.base + first * step, range.base + last * step, step);

  let first = 1n;
  let last = placesIn(range) - 1n;
  if (last < first || (await heldBetween(first, last)) > last - first) return null;
  while (first < last) {
    const middle = (first + last) / 2n;
    if ((await heldBetween(first, middle)) > middle - first) first = middle + 1n;
    else last = middle;
  }
  return range.base + first * step;
}

/** Counts the live holds on the grid of the step between two amounts, both included, stored or not. */
async function countHeld(
  tx: Tx,
  place: HoldPlace,
  least: bigint,
  most: bigint,
  step: bigint,
): Promise<bigint> {
  const [counted] = await tx.all<{ held: number }>(
    `SELECT count(*) AS held FROM holds WHERE ${heldOnGrid}`,
    gridValues(place, least, most, step),
  );
  return BigInt(counted?.held ?? 0) + unstoredHolds(tx).count(place, least, most, step);
}

/**
 * SQL condition for live holds on the grid of a step between two amounts, both included; its values are those of
 * `gridValues`.
 */
const heldOnGrid = `network = $1 AND address = $2 AND token = $3 AND amount >= $4 AND amount <= $5
  AND released_at IS NULL AND substr(amount, CAST($6 AS integer)) = $7`;

function gridValues(place: HoldPlace, least: bigint, most: bigint, step: bigint): SqlValue[] {
  // A step is a power of ten, so amounts on one grid end in the same digits.
  const sharedDigits = step.toString().length - 1;
  const from = encodeAmount(least);
  const tailStart = from.length - sharedDigits;
  const { network, address, token } = place;
  return [network, address, token, from, encodeAmount(most), tailStart + 1, from.slice(tailStart)];
}

/** The number of holds that are recycled at once, so that not every invoice of a full band reads the whole band. */
export const recycledMax = 8;

/**
 * Releases at most `limit` of a band's holds whose invoices were canceled or have expired without a payment, the oldest
 * first, so that their amounts become available again. Returns their number. Until the earlier invoice's late window
 * ends, a transfer of such an amount waits for the merchant's decision, because it may be for either invoice
 * (docs/decisions/0022). The CTE is materialized because PostgreSQL may otherwise run a locking subquery again for each
 * row, and exceed the limit.
 */
export async function recycleHolds(
  tx: Tx,
  place: HoldPlace,
  range: AmountRange,
  limit: number,
  at: Instant,
): Promise<number> {
  const step = finestStep(range);
  const least = range.base + step;
  return tx.run(
    `WITH oldest AS MATERIALIZED (
       SELECT id FROM holds
       WHERE ${heldOnGrid} AND organization_id = $9 AND EXISTS (
         SELECT 1 FROM invoices WHERE invoices.id = holds.invoice_id AND invoices.managed_by IS NULL
           AND invoices.status IN ('canceled', 'expired') AND invoices.seen_amount = $10
       )
       ORDER BY starts_at, id LIMIT $11${skipLocked[tx.dialect]}
     )
     UPDATE holds SET released_at = $8, recycled_at = $8
     WHERE released_at IS NULL AND id IN (SELECT id FROM oldest)`,
    [
      ...gridValues(place, least, range.base + range.cap, step),
      ...[at, place.organizationId, encodeAmount(0n), limit],
    ],
  );
}
