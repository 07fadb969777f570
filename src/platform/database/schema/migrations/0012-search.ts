import { metadataTerm, wordsOf, wordTerm } from "../../../../kernel/search.ts";
import type { Tx } from "../../database.ts";
import type { Migration } from "../migrate.ts";

/** Rows indexed per statement. */
const batchRows = 1_000;

const invoiceFacet = `(status || ' ' || network || ' ' || token_symbol || ' ' || settlement_currency || ' ' || coalesce(wallet_id, ''))`;
const paymentFacet = `(status || ' ' || network || ' ' || token)`;

/**
 * Indexes and search terms for finding invoices and payments by every combination of filters, and for orders other than
 * creation.
 */
export const migration: Migration = {
  version: 12,
  name: "search",
  up: (types) => [
    `CREATE TABLE invoice_terms (
      organization_id ${types.text} NOT NULL,
      term ${types.text} NOT NULL,
      invoice_id ${types.text} NOT NULL,
      PRIMARY KEY (organization_id, term, invoice_id)
    ) ${types.keyAlone}`,
    `CREATE TABLE customer_terms (
      organization_id ${types.text} NOT NULL,
      term ${types.text} NOT NULL,
      customer_id ${types.text} NOT NULL,
      PRIMARY KEY (organization_id, term, customer_id)
    ) ${types.keyAlone}`,
    `DROP INDEX invoices_status`,
    `DROP INDEX invoices_customer`,
    `DROP INDEX invoices_customer_status`,
    `DROP INDEX invoices_external_id`,
    `CREATE INDEX invoices_facet ON invoices (organization_id, ${invoiceFacet}, id)`,
    `CREATE INDEX invoices_customer ON invoices (organization_id, customer_id, ${invoiceFacet}, id) WHERE customer_id IS NOT NULL`,
    `CREATE INDEX invoices_paid ON invoices (organization_id, ${invoiceFacet}, paid_at, id) WHERE paid_at IS NOT NULL`,
    `CREATE INDEX invoices_amount ON invoices (organization_id, ${invoiceFacet}, amount, id)`,
    `CREATE INDEX invoices_own_address ON invoices (organization_id, wallet_address) WHERE address_index IS NOT NULL`,
    `CREATE UNIQUE INDEX invoices_external_id ON invoices (organization_id, lower(external_id), external_id) WHERE external_id IS NOT NULL`,
    `DROP INDEX payments_status`,
    `DROP INDEX payments_network`,
    `DROP INDEX payments_unusual`,
    `DROP INDEX payments_transfer`,
    `CREATE INDEX payments_facet ON payments (organization_id, ${paymentFacet}, id)`,
    `CREATE INDEX payments_platform_facet ON payments (${paymentFacet}, id)`,
    `CREATE UNIQUE INDEX payments_transfer ON payments (transfer_id, invoice_id, (case when status = 'rejected' then id else '' end))`,
    `DROP INDEX transfers_transaction`,
    `CREATE INDEX transfers_transaction ON transfers (transaction_hash, network)`,
  ],
  async fill(tx) {
    await fill(
      tx,
      `SELECT id AS "id", organization_id AS "organizationId", description AS "text", metadata AS "metadata"
       FROM invoices WHERE id > $1 AND (description IS NOT NULL OR metadata <> '{}')`,
      "invoice_terms (organization_id, term, invoice_id)",
      ({ text, metadata }) => [
        ...wordsOf(text ?? "").map(wordTerm),
        ...Object.entries(JSON.parse(metadata) as Record<string, string>).map(([key, value]) =>
          metadataTerm(key, value),
        ),
      ],
    );
    await fill(
      tx,
      `SELECT id AS "id", organization_id AS "organizationId", name AS "text", '{}' AS "metadata"
       FROM customers WHERE id > $1`,
      "customer_terms (organization_id, term, customer_id)",
      ({ text }) => wordsOf(text ?? ""),
    );
  },
};

interface TextRow {
  readonly id: string;
  readonly organizationId: string;
  /** The text of a description or name. */
  readonly text: string | null;
  /** Metadata as a JSON object of texts. */
  readonly metadata: string;
}

async function fill(
  tx: Tx,
  select: string,
  into: string,
  termsOf: (row: TextRow) => readonly string[],
): Promise<void> {
  const given = {
    sqlite: "json_each($1) AS given",
    postgres: "json_array_elements(CAST($1 AS json)) AS given (value)",
  }[tx.dialect];
  for (let after = ""; ;) {
    const rows = await tx.all<TextRow>(`${select} ORDER BY id LIMIT ${String(batchRows)}`, [after]);
    const last = rows.at(-1);
    if (last === undefined) return;
    const terms = rows.flatMap((row) =>
      termsOf(row).map((term) => [row.organizationId, term, row.id]),
    );
    await tx.run(
      `INSERT INTO ${into} SELECT given.value ->> 0, given.value ->> 1, given.value ->> 2 FROM ${given}`,
      [JSON.stringify(terms)],
    );
    after = last.id;
  }
}
