import type { Id, RandomBytes } from "../../../kernel/id.ts";
import { encodeAmount, type Question } from "../../../platform/database/index.ts";
import { amountDigits } from "../../../platform/database/schema/table.ts";
import { forEachDialect, givenValues } from "../../../platform/database/query/json-rows.ts";
import { locksOf } from "../../../platform/database/write/locks.ts";
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

/** The number of fields that `encodeSearch` returns. */
export const encodedFields = 6;

/** Returns the fields of a search as the statements receive it: its place, the range near its price, and its holder. */
export function encodeSearch(search: AmountSearch): string[] {
  const { network, address, token, range, holder } = search;
  return [network, address, token, ...nearBase(range).map(encodeAmount), holder ?? ""];
}

/** SQL for the amount of another invoice's live hold near the bare price of `given`, or null. */
export const nearHold = `(
      SELECT near.amount FROM holds AS near
      WHERE ${liveAt("near")} AND near.amount >= given.value ->> 3 AND near.amount <= given.value ->> 4
        AND near.invoice_id <> given.value ->> 5
      LIMIT 1
    )`;

function liveAt(alias: string): string {
  return `${alias}.network = given.value ->> 0 AND ${alias}.address = given.value ->> 1
        AND ${alias}.token = given.value ->> 2 AND ${alias}.released_at IS NULL`;
}

/**
 * Finds which amounts are held. On PostgreSQL, concurrent transactions do not see each other's holds, so a search that
 * may take the bare price locks the regions of its band and waits for the commits of the others there; one that takes a
 * surcharge anyway does not wait. After the wait the answer may be outdated, so the INSERT of the hold checks again.
 */
export const heldAmounts: Question<AmountSearch, HeldAmounts> = {
  table: holds,
  async ask(reader, searches) {
    const rows = searches.map((search, index) => {
      const { range, candidates } = search;
      const locks = candidates.includes(range.base) ? lockNames(search) : [];
      const fields = [...encodeSearch(search), candidates.map(String), index, locks];
      return { fields, order: locks[0] ?? "" };
    });
    // In one order for all transactions, so that none waits for another that waits for it.
    if (reader.dialect === "postgres") rows.sort((a, b) => (a.order < b.order ? -1 : 1));
    const found = await reader.all<{ index: number; near: string | null; taken: string | null }>(
      heldAmountsSql[reader.dialect],
      [JSON.stringify(rows.map(({ fields }) => fields))],
    );
    const byIndex = new Map(found.map((row) => [row.index, row]));
    return searches.map(({ candidates }, index) => {
      const { near = null, taken = null } = byIndex.get(index) ?? {};
      const places = taken === null || taken === "" ? [] : taken.split(" ").map(Number);
      return {
        isNearHeld: near !== null,
        taken: new Set(places.flatMap((place) => candidates[place] ?? [])),
      };
    });
  },
};

function lockNames({ network, address, token, range }: AmountSearch): readonly string[] {
  return regionsNear(range).map((region) => ["hold", network, address, token, region].join(" "));
}

/**
 * The candidates are looked up only if anything is held in their range. Each is looked up by a scalar subquery instead
 * of NOT EXISTS, which PostgreSQL turns into a join that reads every hold while its statistics say that the table is
 * small.
 */
const heldAmountsSql = forEachDialect((dialect) => {
  const isSqlite = dialect === "sqlite";
  const candidates = isSqlite
    ? "json_each(given.value, '$[6]') AS candidate"
    : "jsonb_array_elements_text(given.value -> 6) WITH ORDINALITY AS candidate (value, number)";
  const place = isSqlite ? "candidate.key" : "candidate.number - 1";
  // Stored amounts are padded with zeros. The candidates are sent without them, because there are many.
  const amount = isSqlite
    ? `substr('${encodeAmount(0n)}' || candidate.value, -${String(amountDigits)})`
    : `lpad(candidate.value, ${String(amountDigits)}, '0')`;
  const joined = isSqlite
    ? `group_concat(${place}, ' ')`
    : `string_agg(CAST(${place} AS text), ' ')`;
  const locked = `, CASE WHEN ${nearHold} IS NULL
      THEN ${locksOf("jsonb_array_elements_text(given.value -> 8) AS name (value)")} END AS locked`;
  return `SELECT CAST(given.value ->> 7 AS integer) AS "index", ${nearHold} AS near,
    CASE WHEN (
      SELECT ranged.amount FROM holds AS ranged
      WHERE ${liveAt("ranged")} AND ranged.amount >= given.value ->> 3 AND ranged.amount <= given.value ->> 4
      LIMIT 1
    ) IS NOT NULL THEN (
      SELECT ${joined} FROM ${candidates}
      WHERE (
        SELECT held.amount FROM holds AS held WHERE ${liveAt("held")} AND held.amount = ${amount}
      ) IS NOT NULL
    ) END AS taken${isSqlite ? "" : locked}
    FROM ${givenValues(dialect, 1)} AS ${isSqlite ? "given" : "given (value)"}`;
});
