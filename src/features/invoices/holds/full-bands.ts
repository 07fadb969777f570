import type { Instant } from "../../../kernel/clock.ts";
import type { RandomBytes } from "../../../kernel/id.ts";
import { encodeAmount, type SqlValue } from "../../../platform/database/schema/table.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { skipLocked } from "../../../platform/database/write/locks.ts";
import type { AmountSearch, HoldPlace } from "./amount-search.ts";
import { finestStep, roundBetween, type AmountRange } from "./amounts.ts";
import { unstoredHolds } from "./unstored-holds.ts";

/**
 * Finds a surcharged amount that no live hold has, by binary search above a random one and then below it; null if every
 * amount is held. Round amounts are never found.
 */
export async function findGap(
  tx: Tx,
  search: AmountSearch,
  randomBytes: RandomBytes,
): Promise<bigint | null> {
  const { range } = search;
  const step = finestStep(range);
  const last = range.cap / step;
  if (last === 0n) return null;
  const held = await countHeld(tx, search, range.base + step, range.base + last * step, step);
  if (held >= last) return null;
  const bytes = randomBytes(8);
  const chance = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const middle = (chance.getBigUint64(0) % last) + 1n;
  return (await gapBetween(tx, search, middle, last)) ?? gapBetween(tx, search, 1n, middle - 1n);
}

/** Finds the smallest free amount whose surcharge is between two multiples of the finest step, both included. */
async function gapBetween(
  tx: Tx,
  search: AmountSearch,
  least: bigint,
  most: bigint,
): Promise<bigint | null> {
  const { range } = search;
  const step = finestStep(range);
  const heldBetween = (from: bigint, to: bigint) =>
    countHeld(tx, search, range.base + from * step, range.base + to * step, step);
  let [first, last] = [least, most];
  if (last < first || (await heldBetween(first, last)) > last - first) return null;
  while (first < last) {
    const middle = (first + last) / 2n;
    if ((await heldBetween(first, middle)) > middle - first) first = middle + 1n;
    else last = middle;
  }
  return range.base + first * step;
}

/**
 * Counts the amounts on the grid of the step between two amounts, both included, that cannot be assigned: live holds,
 * stored or not, and round amounts.
 */
async function countHeld(
  tx: Tx,
  search: AmountSearch,
  least: bigint,
  most: bigint,
  step: bigint,
): Promise<bigint> {
  const round = roundBetween(search.range, step, least, most);
  const isDigits = round === 0n ? "" : ` AND substr(amount, CAST($8 AS integer)) <> $9`;
  const roundTail = encodeAmount(0n).slice(0, (search.range.roundTo ?? 1n).toString().length - 1);
  const [counted] = await tx.all<{ held: number }>(
    `SELECT count(*) AS held FROM holds WHERE ${heldOnGrid}${isDigits}`,
    [
      ...gridValues(search, least, most, step),
      ...(round === 0n ? [] : [encodeAmount(0n).length - roundTail.length + 1, roundTail]),
    ],
  );
  const unstored = unstoredHolds(tx).count(search, least, most, step);
  return BigInt(counted?.held ?? 0) + round + unstored;
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
