import type { Migration } from "../migrate.ts";

/** Links by which each payer gets an invoice of their own. */
export const migration: Migration = {
  version: 27,
  name: "payment-links",
  up: (types) => [
    `CREATE TABLE payment_links (
      id ${types.text} NOT NULL PRIMARY KEY,
      organization_id ${types.text} NOT NULL REFERENCES organizations (id),
      status ${types.text} NOT NULL,
      amount ${types.text},
      min_amount ${types.text},
      max_amount ${types.text},
      terms ${types.json} NOT NULL,
      version ${types.integer} NOT NULL,
      created_at ${types.time} NOT NULL,
      updated_at ${types.time} NOT NULL
    )`,
    `CREATE INDEX payment_links_organization ON payment_links (organization_id, id)`,
  ],
};
