import type { Migration } from "../migrate.ts";

/** The storage that organizations have used before their approval, and the users who created them. */
export const migration: Migration = {
  version: 42,
  name: "allowances",
  up: (types) => [
    `CREATE TABLE organization_allowances (
      organization_id ${types.text} NOT NULL PRIMARY KEY REFERENCES organizations (id),
      bytes ${types.integer} NOT NULL,
      drafts ${types.integer} NOT NULL
    )`,
    `ALTER TABLE organizations ADD COLUMN created_by ${types.text}`,
    `CREATE INDEX organizations_creator ON organizations (created_by, verification_status)
       WHERE created_by IS NOT NULL`,
  ],
};
