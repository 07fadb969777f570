import {
  faultsAlong,
  violationsMax,
  walkBatch,
  type BatchedWalk,
  type Check,
} from "./schema/checks.ts";
import type { Reader } from "./database.ts";
import { givenRows } from "./query/json-rows.ts";
import { text } from "./schema/table.ts";

/** A row whose texts are searched. */
interface SearchedRow {
  readonly id: string;
  readonly organizationId: string;
}

/** How a check compares the search terms that are stored with those of the searched texts. */
export interface SearchTerms<Row extends SearchedRow> {
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
  /** The key of the row as JSON: the walk's place. */
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
