import type { Id } from "../../../kernel/id.ts";
import {
  foldAscii,
  hasWords,
  metadataTerm,
  rarestWord,
  wordsOf,
  wordTerm,
  type SearchQuery,
} from "../../../kernel/search.ts";
import { unindexed } from "../../../platform/database/query/lists.ts";
import { examinedMax, startingWith } from "../../../platform/database/query/facets.ts";
import type { Reader, Tx } from "../../../platform/database/database.ts";
import { listed } from "../../../platform/database/query/json-rows.ts";
import { customerTexts, isFoundCustomer, searchCustomers } from "../../customers/customers.ts";
import { publicIdBeginning } from "../rules.ts";
import { invoiceIdsWhere, type InvoiceRow } from "../store.ts";
import { invoices, invoiceTerms } from "../table.ts";

/** The number of matching customers beyond which a search counts as matching very many invoices. */
const foundCustomersMax = 50;

/** Returns every invoice that may match a search, including false positives; null if there are many. */
export async function searchCandidates(
  reader: Reader,
  organizationId: Id<"organization">,
  query: SearchQuery,
): Promise<readonly Id<"invoice">[] | null> {
  const word = rarestWord(query);
  const customers = await searchCustomers(reader, organizationId, query, foundCustomersMax);
  if (customers === null) return null;
  const idsWhere = (
    table: "invoices" | "invoice_terms",
    condition: string,
    ...values: readonly string[]
  ) => invoiceIdsWhere(reader, organizationId, table, condition, ...values);
  const reference = publicIdBeginning(query.folded);
  const found = await Promise.all([
    idsWhere("invoices", "public_id = $2", query.folded),
    reference === null ? [] : idsOfReference(reader, organizationId, reference),
    idsWhere(
      "invoices",
      "lower(external_id) >= $2 AND lower(external_id) < $3 AND external_id IS NOT NULL",
      ...startingWith(query.folded),
    ),
    word === undefined
      ? []
      : idsWhere("invoice_terms", "term >= $2 AND term < $3", ...startingWith(wordTerm(word))),
    customers.length === 0
      ? []
      : idsWhere(
          "invoices",
          `customer_id IN ${listed(reader.dialect, 2)} AND customer_id IS NOT NULL`,
          JSON.stringify(customers),
        ),
  ]);
  const ids = [...new Set(found.flat())];
  return ids.length > examinedMax ? null : ids;
}

/** Returns an organization's invoices whose public ids begin like this. */
async function idsOfReference(
  reader: Reader,
  organizationId: Id<"organization">,
  beginning: string,
): Promise<readonly Id<"invoice">[]> {
  // SQLite would walk the organization's invoices if its column could be searched.
  const rows = await reader.all<{ id: Id<"invoice"> }>(
    `SELECT id AS "id" FROM invoices AS one WHERE public_id >= $2 AND public_id < $3
     AND ${unindexed("organization_id")} = $1 LIMIT ${String(examinedMax + 1)}`,
    [organizationId, ...startingWith(beginning)],
  );
  return rows.map(({ id }) => id);
}

type SearchedText = Pick<
  InvoiceRow,
  "id" | "publicId" | "externalId" | "description" | "customerId"
>;

/** Returns the invoices that match a search, in their given order. */
export async function searchAmong(
  reader: Reader,
  ids: readonly Id<"invoice">[],
  query: SearchQuery,
): Promise<readonly Id<"invoice">[]> {
  if (ids.length === 0) return [];
  const rows = await reader.all<SearchedText>(
    `SELECT id AS "id", public_id AS "publicId", external_id AS "externalId", description AS "description",
       customer_id AS "customerId" FROM invoices WHERE id IN ${listed(reader.dialect, 1)}`,
    [JSON.stringify(ids)],
  );
  const customers = await customerTexts(
    reader,
    rows.flatMap(({ customerId }) => customerId ?? []),
  );
  const reference = publicIdBeginning(query.folded);
  const isFound = ({ publicId, externalId, description, customerId }: SearchedText) => {
    const customer = customerId === null ? undefined : customers.get(customerId);
    return (
      publicId === query.folded ||
      (reference !== null && publicId.startsWith(reference)) ||
      (externalId !== null && foldAscii(externalId).startsWith(query.folded)) ||
      hasWords(description ?? "", query) ||
      (customer !== undefined && isFoundCustomer(customer, query))
    );
  };
  const found = new Set(rows.filter(isFound).map(({ id }) => id));
  return ids.filter((id) => found.has(id));
}

type Searched = Pick<InvoiceRow, "id" | "organizationId" | "description" | "metadata">;

/** Returns the search terms of an invoice besides its columns; none without a description and metadata. */
export function termsOf({
  description,
  metadata,
}: Pick<Searched, "description" | "metadata">): string[] {
  return [
    ...wordsOf(description ?? "").map(wordTerm),
    ...Object.entries(metadata).map(([key, value]) => metadataTerm(key, value)),
  ];
}

/** Inserts an invoice with its terms. Nothing in the transaction may read them before the commit. */
export function appendInvoice(tx: Tx, row: InvoiceRow): void {
  tx.append(invoices, row);
  for (const term of termsOf(row)) tx.append(invoiceTerms, termRow(row, term));
}

/** Updates the search terms of a changed invoice. */
export async function replaceTerms(tx: Tx, before: Searched, after: Searched): Promise<void> {
  const old = termsOf(before);
  const next = termsOf(after);
  const dropped = old.filter((term) => !next.includes(term));
  const added = next.filter((term) => !old.includes(term));
  if (dropped.length > 0) {
    await tx.run(
      `DELETE FROM invoice_terms WHERE organization_id = $1 AND invoice_id = $2
       AND term IN ${listed(tx.dialect, 3)}`,
      [before.organizationId, before.id, JSON.stringify(dropped)],
    );
  }
  await tx.insertMany(
    invoiceTerms,
    added.map((term) => termRow(after, term)),
  );
}

function termRow(
  {
    organizationId,
    id,
  }: { readonly organizationId: Id<"organization">; readonly id: Id<"invoice"> },
  term: string,
) {
  return { organizationId, term, invoiceId: id };
}
