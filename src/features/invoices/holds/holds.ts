import type { Instant } from "../../../kernel/clock.ts";
import type { Id, IdSource, RandomBytes } from "../../../kernel/id.ts";
import {
  decodeAmount,
  encodeAmount,
  type SqlValue,
  type Tx,
} from "../../../platform/database/index.ts";
import { forEachDialect, givenTexts } from "../../../platform/database/query/json-rows.ts";
import { holdLocksIf, skipLocked } from "../../../platform/database/write/locks.ts";
import {
  amountRange,
  finestStep,
  firstCandidates,
  furtherCandidates,
  nearBase,
  placesIn,
  regionsNear,
  type AmountRange,
} from "./amounts.ts";
import { holds } from "../table.ts";

/** Number of draws of candidates before the search for a gap. */
const roundsMax = 3;
/** Number of times that a gap may be lost to a concurrent writer. Each time, another writer made progress. */
const gapTriesMax = 100;

/** An address and token at which an organization's invoices are distinguished by their amounts. */
export interface HoldPlace {
  readonly organizationId: Id<"organization">;
  readonly network: string;
  /** In canonical form. */
  readonly address: string;
  /** The token's symbol. */
  readonly token: string;
}

export interface HoldRequest extends HoldPlace {
  readonly invoiceId: Id<"invoice">;
  readonly tokenDecimals: number;
  /** Returns the smallest payment that settles the given amount in full. */
  readonly leastOf: (amount: bigint) => bigint;
  readonly startsAt: Instant;
  readonly endsAt: Instant;
}

/** The token of a hold on an exclusive address. */
export const anyToken = "*";

export interface HoldDependencies {
  readonly ids: IdSource;
  readonly randomBytes: RandomBytes;
}

/** Holds an address exclusively for one invoice. */
export async function holdAddress(
  tx: Tx,
  deps: HoldDependencies,
  request: HoldRequest,
): Promise<void> {
  const { invoiceId, organizationId, network, address, startsAt, endsAt } = request;
  await tx.insert(holds, {
    id: deps.ids.next("hold", startsAt),
    network,
    address,
    token: anyToken,
    amount: 0n,
    price: null,
    leastAmount: 0n,
    invoiceId,
    organizationId,
    kind: "exclusive",
    startsAt,
    endsAt,
    releasedAt: null,
    recycledAt: null,
  });
}

/**
 * Holds an amount that no other live hold on the address has: the bare price if no other invoice holds an amount near
 * it, otherwise the price plus a small surcharge (docs/decisions/0019). One statement checks several candidates and
 * takes the best free one, however many amounts are held. Only if all of them are held does it search for a gap, and
 * only if no gap is left does it recycle amounts of dead invoices. Returns null if nothing can be recycled either.
 */
export async function holdAmount(
  tx: Tx,
  deps: HoldDependencies,
  request: HoldRequest,
  price: bigint,
): Promise<bigint | null> {
  const range = amountRange(price, request.tokenDecimals);
  const isBareOnOffer = await lockBarePrice(tx, request, range);
  for (let round = 0; round < roundsMax; round += 1) {
    const draw = round === 0 ? firstCandidates : furtherCandidates;
    const drawn = draw(range, deps.randomBytes);
    const candidates = isBareOnOffer ? drawn : drawn.filter((amount) => amount !== price);
    const held = await insertFirstFree(tx, deps, request, range, candidates);
    if (held !== null) return held;
  }
  for (let tries = 0; tries < gapTriesMax; tries += 1) {
    const gap = await findGap(tx, request, range);
    if (gap === null) {
      const recycled = await recycleHolds(tx, request, range, recycledMax, request.startsAt);
      if (recycled === 0) return null;
      continue;
    }
    const held = await insertFirstFree(tx, deps, request, range, [gap]);
    if (held !== null) return held;
  }
  return null;
}

/**
 * Returns whether the bare price is available: no live hold of another invoice is near it. On PostgreSQL, concurrent
 * transactions do not see each other's holds, so a request that may take the bare price locks its regions and waits for
 * the commits of the others there; a request that takes a surcharge anyway does not wait. On SQLite, writes run one at
 * a time, and the statement that takes the hold checks this.
 */
async function lockBarePrice(tx: Tx, request: HoldRequest, range: AmountRange): Promise<boolean> {
  const { network, address, token, invoiceId } = request;
  const names = regionsNear(range).map((region) =>
    ["hold", network, address, token, region].join(" "),
  );
  const near = nearBase(range).map(encodeAmount);
  return holdLocksIf(tx, names, `${nearHold("$4", "$5", "$6")} IS NULL`, [
    network,
    address,
    token,
    ...near,
    invoiceId,
  ]);
}

/**
 * Takes the first candidate that no live hold has; the bare price only if nothing near it is held. Returns null if all
 * candidates are taken.
 */
async function insertFirstFree(
  tx: Tx,
  deps: HoldDependencies,
  request: HoldRequest,
  range: AmountRange,
  candidates: readonly bigint[],
): Promise<bigint | null> {
  if (candidates.length === 0) return null;
  const [taken] = await tx.all<{ amount: string }>(insertFirstFreeSql[tx.dialect], [
    request.network,
    request.address,
    request.token,
    deps.ids.next("hold", request.startsAt),
    request.invoiceId,
    request.organizationId,
    request.startsAt,
    request.endsAt,
    JSON.stringify(
      candidates.map((amount) => encodeAmount(amount) + encodeAmount(request.leastOf(amount))),
    ),
    ...[range.base, ...nearBase(range)].map(encodeAmount),
  ]);
  return taken === undefined ? null : decodeAmount(taken.amount);
}

// A candidate is encoded as two stored amounts in a row: substr costs less than nested JSON.
const amountPart = "substr(candidate.value, 1, 78)";
const leastPart = "substr(candidate.value, 79)";

/** SQL for the amount of another invoice's live hold near the bare price, or null. */
function nearHold(least: string, most: string, invoiceId: string): string {
  return `(
      SELECT near.amount FROM holds AS near
      WHERE near.network = $1 AND near.address = $2 AND near.token = $3 AND near.amount >= ${least}
        AND near.amount <= ${most} AND near.released_at IS NULL AND near.invoice_id <> ${invoiceId}
      LIMIT 1
    )`;
}

/**
 * The lookup of the bare price's neighbors is one index range, read once and only for that candidate. Each candidate is
 * looked up by a scalar subquery instead of NOT EXISTS, which PostgreSQL turns into a join that reads every hold while
 * its statistics say that the table is small.
 */
const insertFirstFreeSql = forEachDialect(
  (dialect) => `INSERT INTO holds
      (id, network, address, token, invoice_id, organization_id, starts_at, ends_at, price, kind, amount,
       least_amount)
    SELECT CAST($4 AS text), CAST($1 AS text), CAST($2 AS text), CAST($3 AS text), CAST($5 AS text), CAST($6 AS text),
      CAST($7 AS bigint), CAST($8 AS bigint), CAST($10 AS text), 'amount', ${amountPart}, ${leastPart}
    FROM ${givenTexts(dialect, 9, "candidate")}
    WHERE (
      SELECT held.amount FROM holds AS held
      WHERE held.network = $1 AND held.address = $2 AND held.token = $3 AND held.amount = ${amountPart}
        AND held.released_at IS NULL
    ) IS NULL AND (${amountPart} <> $10 OR ${nearHold("$11", "$12", "$5")} IS NULL)
    ORDER BY candidate.key LIMIT 1
    ON CONFLICT DO NOTHING RETURNING amount`,
);

/** Finds the smallest surcharged amount that no live hold has, by binary search; null if every amount is held. */
async function findGap(tx: Tx, request: HoldPlace, range: AmountRange): Promise<bigint | null> {
  const step = finestStep(range);
  const heldBetween = (first: bigint, last: bigint) =>
    countHeld(tx, request, range.base + first * step, range.base + last * step, step);

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

/** Counts the live holds on the grid of the step between two amounts, both included. */
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
  return BigInt(counted?.held ?? 0);
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
const recycledMax = 8;

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
