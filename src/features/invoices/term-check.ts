import type { Id } from "../../kernel/id.ts";
import {
  faultsAlong,
  violationsMax,
  walkBatch,
  type BatchedWalk,
  type Check,
} from "../../platform/database/checks.ts";
import type { Reader } from "../../platform/database/index.ts";
import { givenRows } from "../../platform/database/json-rows.ts";
import { termsOf } from "./search-terms.ts";
import { invoicesById, type InvoiceRow } from "./store.ts";
import { invoices } from "./table.ts";

interface TermRow {
  readonly organizationId: string;
  readonly term: string;
  readonly invoiceId: Id<"invoice">;
}

/** Invoices in the order of their ids: each is to have a row for each of its terms. */
const missing: BatchedWalk<InvoiceRow> = {
  batch: (reader, after) =>
    reader.find(invoices, `WHERE id > $1 ORDER BY id LIMIT ${String(walkBatch)}`, [after]),
  async faultsOf(reader, rows) {
    const expected = rows.flatMap((row) =>
      termsOf(row).map((term) => [row.organizationId, term, row.id] as const),
    );
    const absent = await reader.all<{ id: string }>(
      `SELECT DISTINCT given.value ->> 2 AS "id" FROM ${givenRows[reader.dialect]}
       WHERE NOT EXISTS (
         SELECT 1 FROM invoice_terms WHERE organization_id = given.value ->> 0
           AND term = given.value ->> 1 AND invoice_id = given.value ->> 2
       ) ORDER BY "id"`,
      [JSON.stringify(expected)],
    );
    const fault =
      "A word of its description or an entry of its metadata has no row in invoice_terms.";
    return absent.map(({ id }) => ({ row: id, fault }));
  },
};

/** Rows of terms in the order of their key: each is to be of an invoice of the organization that has the term. */
const stale: BatchedWalk<TermRow & { readonly id: string }> = {
  async batch(reader, after) {
    const rows = await termsAfter(
      reader,
      after === "" ? ["", "", ""] : (JSON.parse(after) as string[]),
    );
    return rows.map((row) => ({
      ...row,
      id: JSON.stringify([row.organizationId, row.term, row.invoiceId]),
    }));
  },
  async faultsOf(reader, rows) {
    const ids = [...new Set(rows.map(({ invoiceId }) => invoiceId))];
    const found = await invoicesById(reader, ids);
    const termsById = new Map(found.map((row) => [row.id, { row, terms: new Set(termsOf(row)) }]));
    return rows.flatMap(({ organizationId, term, invoiceId }) => {
      const its = termsById.get(invoiceId);
      if (its === undefined) {
        return [{ row: invoiceId, fault: "A row in invoice_terms names it, and it is gone." }];
      }
      if (its.row.organizationId !== organizationId) {
        const fault = `A row in invoice_terms gives it to ${organizationId}.`;
        return [{ row: invoiceId, fault }];
      }
      if (its.terms.has(term)) return [];
      const fault =
        "A row in invoice_terms has a term that is not in its description or its metadata.";
      return [{ row: invoiceId, fault }];
    });
  },
};

function termsAfter(reader: Reader, key: readonly string[]): Promise<TermRow[]> {
  return reader.all<TermRow>(
    `SELECT organization_id AS "organizationId", term AS "term", invoice_id AS "invoiceId" FROM invoice_terms
     WHERE (organization_id, term, invoice_id) > ($1, $2, $3)
     ORDER BY organization_id, term, invoice_id LIMIT ${String(walkBatch)}`,
    key,
  );
}

export const termCheck: Check = {
  name: "invoices.search-terms",
  describe: "The search terms of an invoice are those of its description and its metadata.",
  advice:
    "Searches miss the invoice or find it wrongly; no money is affected. Restore its rows of invoice_terms from a backup.",
  async run(reader) {
    const found = [...(await faultsAlong(reader, missing)), ...(await faultsAlong(reader, stale))];
    return found.slice(0, violationsMax);
  },
};
