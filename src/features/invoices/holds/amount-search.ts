import type { Id, RandomBytes } from "../../../kernel/id.ts";
import {
  amount,
  encodeAmount,
  integer,
  json,
  text,
  type Question,
} from "../../../platform/database/index.ts";
import {
  forEachDialect,
  givenRows,
  joinedTexts,
  listedTexts,
  withZeros,
} from "../../../platform/database/query/json-rows.ts";
import { lockingColumn } from "../../../platform/database/write/locks.ts";
import { holds } from "../table.ts";
import {
  amountRange,
  firstCandidates,
  furtherCandidates,
  nearBase,
  regionsNear,
  type AmountRange,
} from "./amounts.ts";

/** An address and token at which an organization's invoices are distinguished by their amounts. */
export interface HoldPlace {
  readonly organizationId: Id<"organization">;
  readonly network: string;
  /** In canonical form. */
  readonly address: string;
  /** The token's symbol. */
  readonly token: string;
}

/** A search for an amount that represents a price at an address. */
export interface AmountSearch extends HoldPlace {
  readonly range: AmountRange;
  /** The amounts that may be held, best first. */
  readonly candidates: readonly bigint[];
  /** The invoice, if it has holds already: they do not prevent its bare price. */
  readonly holder: Id<"invoice"> | null;
}

/** The answer of the store to a search. */
export interface HeldAmounts {
  /** Whether a live hold of another invoice is near the bare price. */
  readonly isNearHeld: boolean;
  /** The candidates that live holds have. */
  readonly taken: ReadonlySet<bigint>;
}

/** Starts the search for a price's amount. */
export function searchAmount(
  place: HoldPlace,
  price: bigint,
  tokenDecimals: number,
  holder: Id<"invoice"> | null,
  randomBytes: RandomBytes,
): AmountSearch {
  const range = amountRange(price, tokenDecimals);
  return { ...place, range, holder, candidates: firstCandidates(range, randomBytes) };
}

/** Continues a search with other amounts than the bare price. */
export function searchFurther(search: AmountSearch, randomBytes: RandomBytes): AmountSearch {
  return { ...search, candidates: furtherCandidates(search.range, randomBytes) };
}

/** The columns of given rows by which `nearHold` finds other holds. */
export const nearColumns = {
  network: text(),
  address: text(),
  token: text(),
  nearLeast: amount(),
  nearMost: amount(),
  holder: text(),
};

/** Returns the values of `nearColumns`. */
export function nearValues({ network, address, token, range, holder }: AmountSearch) {
  const [nearLeast, nearMost] = nearBase(range);
  return { network, address, token, nearLeast, nearMost, holder: holder ?? "" };
}

/** SQL for the amount of another invoice's live hold near the bare price of the row `given`, or null. */
export const nearHold = `(
      SELECT near.amount FROM holds AS near
      WHERE ${liveAt("near")} AND near.amount >= given.near_least AND near.amount <= given.near_most
        AND near.invoice_id <> given.holder
      LIMIT 1
    )`;

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
    const rows = inLockOrder(searches).map(({ search, place, locks }) => {
      const candidates = search.candidates.map(String);
      return { ...nearValues(search), place, candidates, locks };
    });
    const found = await reader.all<{ place: number; near: string | null; taken: string | null }>(
      heldAmountsSql[reader.dialect],
      [searched.values(rows)],
    );
    const byPlace = new Map(found.map((row) => [row.place, row]));
    return searches.map(({ candidates }, place) => {
      const { near = null, taken = null } = byPlace.get(place) ?? {};
      const indexes = taken === null ? [] : taken.split(" ").map(Number);
      return {
        isNearHeld: near !== null,
        taken: new Set(indexes.flatMap((index) => candidates[index] ?? [])),
      };
    });
  },
};

/**
 * Returns searches with their places and the names that each locks: the regions of its band if it may take the bare
 * price. They are in one order for all transactions, so that none waits for another that waits for it.
 */
export function inLockOrder(searches: readonly AmountSearch[]) {
  return searches
    .map((search, place) => {
      const mayTakeBase = search.candidates.includes(search.range.base);
      return { search, place, locks: mayTakeBase ? lockNames(search) : [] };
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
  return `SELECT given.place AS place, ${nearHold} AS near,
    CASE WHEN (
      SELECT ranged.amount FROM holds AS ranged
      WHERE ${liveAt("ranged")} AND ranged.amount >= given.near_least AND ranged.amount <= given.near_most
      LIMIT 1
    ) IS NOT NULL THEN (
      SELECT ${joinedTexts(dialect, candidate.index)} FROM ${candidate.source}
      WHERE (
        SELECT held.amount FROM holds AS held WHERE ${liveAt("held")} AND held.amount = ${amount}
      ) IS NOT NULL
    ) END AS taken${lockingColumn(dialect, `${nearHold} IS NULL`, "given.locks")}
    FROM (
      WITH given AS MATERIALIZED (SELECT * FROM ${searched.from(dialect, 1)}) SELECT * FROM given
    ) AS given`;
});
