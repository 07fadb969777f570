import type { Instant } from "../../../kernel/clock.ts";
import type { Id, RandomBytes } from "../../../kernel/id.ts";
import {
  amount,
  encodeAmount,
  integer,
  json,
  text,
  type SqlValue,
} from "../../../platform/database/schema/table.ts";
import type { Question, Tx } from "../../../platform/database/database.ts";
import {
  forEachDialect,
  givenRows,
  joinedTexts,
  listedTexts,
  withZeros,
} from "../../../platform/database/query/json-rows.ts";
import { lockingColumn, skipLocked } from "../../../platform/database/write/locks.ts";
import { holds, type EntryOrigin } from "../table.ts";
import {
  amountRange,
  bareNear,
  belowHundredth,
  enteredCandidates,
  finestStep,
  firstCandidates,
  furtherCandidates,
  nearBase,
  regionsNear,
  roundBetween,
  type AmountRange,
  type AmountToken,
  type Candidates,
} from "./amounts.ts";

/** An address and token at which an organization's invoices are distinguished by their amounts. */
export interface HoldTarget {
  readonly organizationId: Id<"organization">;
  readonly network: string;
  /** In canonical form. */
  readonly address: string;
  /** The token's symbol. */
  readonly token: string;
}

/** A search for an amount that represents a price at an address. */
export interface AmountSearch extends HoldTarget {
  readonly range: AmountRange;
  /** The amounts that may be held, best first. */
  readonly candidates: Candidates;
  /** The invoice, if it has holds already: they do not prevent its bare price. */
  readonly holder: Id<"invoice"> | null;
  /** The link at which a payer without a credential entered the price; null if the merchant stated it. */
  readonly enteredAtLink: EntryOrigin | null;
}

/** The answer of the store to a search. */
export interface HeldAmounts {
  /** Whether a live hold of another invoice prevents the bare price. */
  readonly isNearHeld: boolean;
  /** The candidates that live holds have. */
  readonly taken: ReadonlySet<bigint>;
  /** The unpaid invoices of the same link in the band, at most `enteredMax`; 0 for a price that the merchant stated. */
  readonly unpaidOfLink: number;
}

/** The invoice whose price a search represents. */
interface SearchFor {
  readonly holder: Id<"invoice"> | null;
  readonly enteredAtLink: EntryOrigin | null;
}

/** Starts the search for a price's amount. */
export function searchAmount(
  target: HoldTarget,
  price: bigint,
  token: AmountToken,
  { holder, enteredAtLink }: SearchFor,
  randomBytes: RandomBytes,
): AmountSearch {
  const sought = { ...target, range: amountRange(price, token), holder, enteredAtLink };
  return { ...sought, candidates: candidatesOf(sought, false, randomBytes) };
}

/** Continues a search with other amounts than the bare price. */
export function searchFurther(search: AmountSearch, randomBytes: RandomBytes): AmountSearch {
  return { ...search, candidates: candidatesOf(search, true, randomBytes) };
}

function candidatesOf(
  { range, holder, enteredAtLink }: Omit<AmountSearch, "candidates">,
  isFurther: boolean,
  randomBytes: RandomBytes,
): Candidates {
  if (enteredAtLink !== null) return enteredCandidates(range, isFurther, randomBytes);
  const drawnFrom = holder === null ? range : belowHundredth(range);
  return (isFurther ? furtherCandidates : firstCandidates)(drawnFrom, randomBytes);
}

/**
 * The number of unpaid invoices of one link in a band from which on a payment of another one's amount waits for the
 * merchant: whoever opens many would be paid by chance.
 */
export const enteredMax = 10;
/** The holds of a link in a band that are read to find unpaid ones; if there are more, so many that are unpaid are assumed. */
const enteredReadMax = 2_000;

/** The columns of given rows by which `nearHold` and `unpaidOfLink` find other holds. */
export const nearColumns = {
  network: text(),
  address: text(),
  token: text(),
  nearLeast: amount(),
  nearMost: amount(),
  bareLeast: amount(),
  bareMost: amount(),
  bandMost: amount(),
  holder: text(),
  link: text(),
};

/** Returns the values of `nearColumns`. */
export function nearValues(search: AmountSearch) {
  const { network, address, token, range, holder, enteredAtLink } = search;
  const [nearLeast, nearMost] = nearBase(range);
  const [bareLeast, bareMost] = bareNear(range);
  const ranges = { nearLeast, nearMost, bareLeast, bareMost, bandMost: range.base + range.cap };
  return { network, address, token, ...ranges, holder: holder ?? "", link: enteredAtLink ?? "" };
}

/** SQL condition: an invoice may still be paid. */
export const isUnpaid = "status NOT IN ('confirming', 'paid', 'canceled')";

/**
 * SQL for the amount of another invoice's live hold that prevents the bare price of the row `given`, or null: one near
 * it, or the bare price of an unpaid invoice from whose payment an exchange may keep the difference. Holds of amounts
 * that payers entered prevent nothing, because their payers would have to round by chance to this very price.
 */
export const nearHold = `COALESCE((
      SELECT near.amount FROM holds AS near
      WHERE ${liveAt("near")} AND near.amount >= given.near_least AND near.amount <= given.near_most
        AND near.invoice_id <> given.holder AND near.entered_at_link IS NULL
      LIMIT 1
    ), (
      SELECT bare.amount FROM holds AS bare JOIN invoices ON invoices.id = bare.invoice_id
      WHERE ${liveAt("bare")} AND bare.amount = bare.price
        AND bare.amount >= given.bare_least AND bare.amount <= given.bare_most
        AND bare.invoice_id <> given.holder AND invoices.${isUnpaid}
      LIMIT 1
    ))`;

/** SQL for the number of unpaid invoices of the link of the row `given` in its band, at most `enteredMax`. */
export const unpaidOfLink = `CASE WHEN given.link = '' THEN 0 ELSE (
      SELECT CASE WHEN count(*) >= ${String(enteredReadMax)} OR sum(each.unpaid) >= ${String(enteredMax)}
        THEN ${String(enteredMax)} ELSE COALESCE(sum(each.unpaid), 0) END
      FROM (
        SELECT CASE WHEN invoices.${isUnpaid} THEN 1 ELSE 0 END AS unpaid FROM (
          SELECT entered.invoice_id AS invoice_id FROM holds AS entered
          WHERE entered.entered_at_link = given.link AND ${liveAt("entered")}
            AND entered.amount >= given.near_least AND entered.amount <= given.band_most
          LIMIT ${String(enteredReadMax)}
        ) AS near JOIN invoices ON invoices.id = near.invoice_id
      ) AS each
    ) END`;

function liveAt(alias: string): string {
  return `${alias}.network = given.network AND ${alias}.address = given.address
        AND ${alias}.token = given.token AND ${alias}.released_at IS NULL`;
}

const searched = givenRows("given", {
  ...nearColumns,
  place: integer(),
  candidates: json<readonly string[]>(),
  locks: json<readonly string[]>(),
});

/**
 * Finds which amounts are held. On PostgreSQL, concurrent transactions do not see each other's holds, so a search that
 * may take the bare price locks the regions of its band and waits for the commits of the others there; one that takes a
 * surcharge anyway does not wait. After the wait the answer may be outdated, so the INSERT of the hold checks again.
 */
export const heldAmounts: Question<AmountSearch, HeldAmounts> = {
  table: holds,
  async ask(reader, searches) {
    const rows = inLockOrder(searches).map(({ search, place: index, locks }) => {
      const candidates = search.candidates.amounts.map(String);
      return { ...nearValues(search), place: index, candidates, locks };
    });
    const found = await reader.all<FoundRow>(heldAmountsSql[reader.dialect], [
      searched.values(rows),
    ]);
    const byIndex = new Map(found.map((row) => [row.index, row]));
    return searches.map(({ candidates }, index) => {
      const { near = null, taken = null, unpaid = 0 } = byIndex.get(index) ?? {};
      const indexes = taken === null ? [] : taken.split(" ").map(Number);
      return {
        isNearHeld: near !== null,
        taken: new Set(indexes.flatMap((index) => candidates.amounts[index] ?? [])),
        unpaidOfLink: unpaid,
      };
    });
  },
};

interface FoundRow {
  readonly index: number;
  readonly near: string | null;
  readonly taken: string | null;
  readonly unpaid: number;
}

/**
 * Returns searches with their indexes and the names that each locks: the regions of its band if it may take the bare
 * price, or the link whose invoices it counts. They are in one order for all transactions, so that none waits for another
 * that waits for it.
 */
export function inLockOrder(searches: readonly AmountSearch[]) {
  return searches
    .map((search, index) => {
      const mayTakeBase = search.candidates.amounts.includes(search.range.base);
      const { enteredAtLink } = search;
      if (enteredAtLink !== null) return { search, place: index, locks: [`link ${enteredAtLink}`] };
      return { search, place: index, locks: mayTakeBase ? lockNames(search) : [] };
    })
    .toSorted((a, b) => ((a.locks[0] ?? "") < (b.locks[0] ?? "") ? -1 : 1));
}

function lockNames({ network, address, token, range }: AmountSearch): readonly string[] {
  return regionsNear(range).map((region) => ["hold", network, address, token, region].join(" "));
}

/**
 * The rows are materialized, because SQLite would otherwise parse a row again for every use of a column. The candidates
 * are looked up only if anything is held in their range. Each is looked up by a scalar subquery instead of NOT EXISTS,
 * which PostgreSQL turns into a join that reads every hold while its statistics say that the table is small.
 */
const heldAmountsSql = forEachDialect((dialect) => {
  const candidate = listedTexts(dialect, "given.candidates", "candidate");
  // Stored amounts are padded with zeros. The candidates are sent without them, because there are many.
  const amount = withZeros(dialect, candidate.value, encodeAmount(0n).length);
  return `SELECT given.place AS "index", ${nearHold} AS near,
    CASE WHEN (
      SELECT ranged.amount FROM holds AS ranged
      WHERE ${liveAt("ranged")} AND ranged.amount >= given.near_least AND ranged.amount <= given.near_most
      LIMIT 1
    ) IS NOT NULL THEN (
      SELECT ${joinedTexts(dialect, candidate.index)} FROM ${candidate.source}
      WHERE (
        SELECT held.amount FROM holds AS held WHERE ${liveAt("held")} AND held.amount = ${amount}
      ) IS NOT NULL
    ) END AS taken, ${unpaidOfLink} AS unpaid${lockingColumn(dialect, `given.link <> '' OR ${nearHold} IS NULL`, "given.locks")}
    FROM (
      WITH given AS MATERIALIZED (SELECT * FROM ${searched.from(dialect, 1)}) SELECT * FROM given
    ) AS given`;
});

/** The holds of a commit that are not in the store yet, so that no statement finds them. */
export interface UnstoredHolds {
  has(target: HoldTarget, amount: bigint): boolean;
  /** Whether another invoice's hold prevents the bare price. */
  isNear(search: AmountSearch): boolean;
  /** The invoices of the search's link in its band. */
  ofLink(search: AmountSearch): number;
  /**
   * Counts the holds of amounts with a surcharge from `least` to `most` that differ from `least` by a multiple of
   * `step`.
   */
  count(search: AmountSearch, least: bigint, most: bigint, step: bigint): bigint;
  add(search: AmountSearch, amount: bigint, invoiceId: Id<"invoice">): void;
}

interface UnstoredHold {
  readonly invoiceId: Id<"invoice">;
  readonly isBare: boolean;
  readonly enteredAtLink: EntryOrigin | null;
}

/** Returns the holds of all writes of the commit on SQLite; on PostgreSQL, holds are stored as soon as they are taken. */
export function unstoredHolds(tx: Tx): UnstoredHolds {
  return tx.isExclusive ? tx.shared(makeUnstoredHolds) : makeUnstoredHolds();
}

/** Makes the holds of a commit that has none yet. */
export function makeUnstoredHolds(): UnstoredHolds {
  const byTarget = new Map<string, Map<bigint, UnstoredHold>>();
  const none: ReadonlyMap<bigint, UnstoredHold> = new Map();
  const keyOf = ({ network, address, token }: HoldTarget) => `${network} ${address} ${token}`;
  const at = (target: HoldTarget) => byTarget.get(keyOf(target)) ?? none;
  return {
    has: (target, amount) => at(target).has(amount),
    isNear(search) {
      const [least, most] = nearBase(search.range);
      const [bareLeast, bareMost] = bareNear(search.range);
      for (const [amount, { invoiceId, isBare, enteredAtLink }] of at(search)) {
        if (invoiceId === search.holder) continue;
        if (amount >= least && amount <= most && enteredAtLink === null) return true;
        if (isBare && amount >= bareLeast && amount <= bareMost) return true;
      }
      return false;
    },
    ofLink({ enteredAtLink, range, ...target }) {
      if (enteredAtLink === null) return 0;
      const [least] = nearBase(range);
      return [...at(target)].filter(
        ([amount, hold]) =>
          hold.enteredAtLink === enteredAtLink &&
          amount >= least &&
          amount <= range.base + range.cap,
      ).length;
    },
    count(search, least, most, step) {
      let found = 0n;
      for (const amount of at(search).keys()) {
        const isRound = roundBetween(search.range, step, amount, amount) > 0n;
        if (amount >= least && amount <= most && !isRound && (amount - least) % step === 0n)
          found += 1n;
      }
      return found;
    },
    add(search, amount, invoiceId) {
      const { range, enteredAtLink } = search;
      const key = keyOf(search);
      const held = byTarget.get(key) ?? new Map<bigint, UnstoredHold>();
      const hold = { invoiceId, isBare: amount === range.base, enteredAtLink };
      byTarget.set(key, held.set(amount, hold));
    },
  };
}

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

function gridValues(target: HoldTarget, least: bigint, most: bigint, step: bigint): SqlValue[] {
  // A step is a power of ten, so amounts on one grid end in the same digits.
  const sharedDigits = step.toString().length - 1;
  const from = encodeAmount(least);
  const tailStart = from.length - sharedDigits;
  const { network, address, token } = target;
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
  target: HoldTarget,
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
      ...gridValues(target, least, range.base + range.cap, step),
      ...[at, target.organizationId, encodeAmount(0n), limit],
    ],
  );
}
