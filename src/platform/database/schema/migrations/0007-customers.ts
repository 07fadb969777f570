import type { Migration } from "../migrate.ts";

/** Customers of merchants. */
export const migration: Migration = {
  version: 7,
  name: "customers",
  up: (types) => [
    `CREATE TABLE customers (
      id ${types.text} NOT NULL PRIMARY KEY,
      organization_id ${types.text} NOT NULL REFERENCES organizations (id),
      external_id ${types.text},
      name ${types.text} NOT NULL,
      email ${types.text},
      metadata ${types.json} NOT NULL,
      version ${types.integer} NOT NULL,
      created_at ${types.time} NOT NULL,
      updated_at ${types.time} NOT NULL
    )`,
    `CREATE INDEX customers_organization ON customers (organization_id, id)`,
    `CREATE UNIQUE INDEX customers_external_id ON customers (organization_id, external_id) WHERE external_id IS NOT NULL`,
    `CREATE INDEX customers_email ON customers (organization_id, email, id) WHERE email IS NOT NULL`,
  ],
};
