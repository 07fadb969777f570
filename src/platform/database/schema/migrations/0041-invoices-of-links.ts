import type { Migration } from "../migrate.ts";

/**
 * The payment link at which a payer started an invoice, and the time at which an invoice counts against its plan. All
 * existing invoices count from their issue.
 */
export const migration: Migration = {
  version: 41,
  name: "invoices of links",
  up: (types) => [
    `ALTER TABLE invoices ADD COLUMN started_at_link ${types.text}`,
    `ALTER TABLE invoices ADD COLUMN counted_at ${types.time}`,
    `UPDATE invoices SET counted_at = issued_at WHERE managed_by IS NULL`,
    `CREATE INDEX invoices_counted ON invoices (organization_id, counted_at) WHERE counted_at IS NOT NULL`,
    `CREATE INDEX invoices_open_at_link ON invoices (organization_id, started_at_link)
       WHERE started_at_link IS NOT NULL AND status = 'open'`,
  ],
};
