import type { Dialect, Reader } from "../database.ts";
import { givenRows } from "../query/json-rows.ts";
import { text, type SqlValue } from "./table.ts";

/** A row that violates a check. */
export interface Violation {
  /** The row's id or another identifier. */
  readonly row: string;
  /** The violation, as a sentence. */
  readonly fault: string;
}

/**
 * An invariant of a store that only Till writes. A check never writes; it reports at most `violationsMax` rows and
 * reads big tables in batches.
 */
export interface Check {
  /** A dotted name such as `payments.within-transfer`. */
  readonly name: string;
  /** The invariant, as a sentence. */
  readonly describe: string;
  /** Advice for fixing a violation. */
  readonly advice: string;
  run(reader: Reader): Promise<readonly Violation[]>;
}

/** The maximum number of rows that a check reports: a few show the problem without flooding the terminal. */
export const violationsMax = 100;

type CheckDescription = Omit<Check, "run">;

/**
 * Creates a check from an SQL statement. It selects the violating `row`, and `fault` if the sentence differs by row.
 */
export function queryCheck(
  description: CheckDescription & {
    readonly sql: string | Readonly<Record<Dialect, string>>;
    /** The sentence for rows that are selected without a `fault`; by default `describe`. */
    readonly fault?: string;
  },
): Check {
  const { sql, fault = description.describe, ...rest } = description;
  return {
    ...rest,
    async run(reader) {
      const text = typeof sql === "string" ? sql : sql[reader.dialect];
      const rows = await reader.all<{ row: string | number; fault?: string }>(
        `${text} LIMIT ${String(violationsMax)}`,
      );
      return rows.map((found) => ({ row: String(found.row), fault: found.fault ?? fault }));
    },
  };
}

/** How a check reads a table: in batches, ordered by id. */
interface BatchedWalk<Row extends { readonly id: string }> {
  /** Returns the rows after an id, ordered by id; an empty batch ends the walk. */
  readonly batch: (reader: Reader, after: string) => Promise<readonly Row[]>;
  readonly faultsOf: (reader: Reader, rows: readonly Row[]) => Promise<readonly Violation[]>;
}

/** Creates a check that reads a table in batches, ordered by id. */
export function walkCheck<Row extends { readonly id: string }>(
  description: CheckDescription & BatchedWalk<Row>,
): Check {
  const { batch, faultsOf, ...rest } = description;
  return { ...rest, run: (reader) => faultsAlong(reader, { batch, faultsOf }) };
}

/** Returns the violations in a table, at most `violationsMax`. */
async function faultsAlong<Row extends { readonly id: string }>(
  reader: Reader,
  { batch, faultsOf }: BatchedWalk<Row>,
): Promise<readonly Violation[]> {
  const found: Violation[] = [];
  let after = "";
  while (found.length < violationsMax) {
    const rows = await batch(reader, after);
    const last = rows.at(-1);
    if (last === undefined) break;
    found.push(...(await faultsOf(reader, rows)));
    after = last.id;
  }
  return found.slice(0, violationsMax);
}

/** Rows per batch. */
export const walkBatch = 1_000;

/** Describes the first difference between two sets of figures; null if they are equal. */
export function firstDifference(
  stored: Readonly<Record<string, SqlValue | bigint | boolean>>,
  computed: Readonly<Record<string, SqlValue | bigint | boolean>>,
): string | null {
  for (const [name, value] of Object.entries(computed)) {
    if (stored[name] === value) continue;
    return `${name} is ${String(stored[name])} but should be ${String(value)}`;
  }
  return null;
}

/** A row whose texts are searched. */
interface SearchedRow {
  readonly id: string;
  readonly organizationId: string;
}

/** How a check compares the search terms that are stored with those of the searched texts. */
interface SearchTerms<Row extends SearchedRow> {
  /** Dotted, such as `invoices.search-terms`. */
  readonly name: string;
  /** The table of terms, with a primary key of `organization_id`, `term` and the id in `owner`. */
  readonly table: string;
  /** The column of the searched row's id, in SQL. */
  readonly owner: string;
  /** The texts that the terms are made of, such as "its description". */
  readonly texts: string;
  /** The first `walkBatch` searched rows after an id, in the order of their ids. */
  readonly batch: (reader: Reader, after: string) => Promise<readonly Row[]>;
  readonly byId: (reader: Reader, ids: readonly string[]) => Promise<readonly Row[]>;
  readonly termsOf: (row: Row) => readonly string[];
}

interface TermRow {
  /** The key of the row as JSON: the walk's position. */
  readonly id: string;
  readonly organizationId: string;
  readonly term: string;
  readonly ownerId: string;
}

const expectedRows = givenRows("given", { organizationId: text(), term: text(), id: text() });

/** Checks that every searched row has exactly its own terms, and that no term belongs to a row that is gone. */
export function termCheck<Row extends SearchedRow>(terms: SearchTerms<Row>): Check {
  const { name, table, owner, texts, termsOf } = terms;
  const missing: BatchedWalk<Row> = {
    batch: terms.batch,
    async faultsOf(reader, rows) {
      const expected = rows.flatMap((row) =>
        termsOf(row).map((term) => ({ organizationId: row.organizationId, term, id: row.id })),
      );
      const absent = await reader.all<{ id: string }>(
        `SELECT DISTINCT given.id AS "id" FROM ${expectedRows.from(reader.dialect, 1)}
         WHERE NOT EXISTS (
           SELECT 1 FROM ${table} WHERE organization_id = given.organization_id
             AND term = given.term AND ${owner} = given.id
         ) ORDER BY "id"`,
        [expectedRows.values(expected)],
      );
      const fault = `A search term of ${texts} has no row in ${table}.`;
      return absent.map(({ id }) => ({ row: id, fault }));
    },
  };
  const stale: BatchedWalk<TermRow> = {
    async batch(reader, after) {
      const key = after === "" ? ["", "", ""] : (JSON.parse(after) as string[]);
      const rows = await reader.all<Omit<TermRow, "id">>(
        `SELECT organization_id AS "organizationId", term AS "term", ${owner} AS "ownerId" FROM ${table}
         WHERE (organization_id, term, ${owner}) > ($1, $2, $3)
         ORDER BY organization_id, term, ${owner} LIMIT ${String(walkBatch)}`,
        key,
      );
      return rows.map((row) => ({
        ...row,
        id: JSON.stringify([row.organizationId, row.term, row.ownerId]),
      }));
    },
    async faultsOf(reader, rows) {
      const owners = await terms.byId(reader, [...new Set(rows.map(({ ownerId }) => ownerId))]);
      const found = new Map(owners.map((row) => [row.id, { row, terms: new Set(termsOf(row)) }]));
      return rows.flatMap(({ organizationId, term, ownerId }) => {
        const its = found.get(ownerId);
        if (its === undefined) {
          return [{ row: ownerId, fault: `A row in ${table} names it, and it is gone.` }];
        }
        if (its.row.organizationId !== organizationId) {
          return [{ row: ownerId, fault: `A row in ${table} gives it to ${organizationId}.` }];
        }
        if (its.terms.has(term)) return [];
        return [{ row: ownerId, fault: `A row in ${table} has a term that is not in ${texts}.` }];
      });
    },
  };
  return {
    name,
    describe: `Search terms are those of ${texts}.`,
    advice: `Searches miss the row or find it wrongly; no money is affected. Restore its rows of ${table} from a backup.`,
    async run(reader) {
      const found = [
        ...(await faultsAlong(reader, missing)),
        ...(await faultsAlong(reader, stale)),
      ];
      return found.slice(0, violationsMax);
    },
  };
}
