import type { Id } from "../../../kernel/id.ts";
import { metadataTerm, wordsOf, wordTerm } from "../../../kernel/search.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { listed } from "../../../platform/database/query/json-rows.ts";
import type { InvoiceRow } from "../store.ts";
import { invoices, invoiceTerms } from "../table.ts";

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
