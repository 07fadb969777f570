import type { Migration } from "../migrate.ts";

/** The merchant's color and logo on the pages of its payers. */
export const migration: Migration = {
  version: 22,
  name: "branding",
  up: (types) => [
    ...["accent_color", "logo", "pending_logo"].map(
      (column) => `ALTER TABLE organizations ADD COLUMN ${column} ${types.text}`,
    ),
    `CREATE TABLE organization_logos (
      name ${types.text} NOT NULL,
      organization_id ${types.text} NOT NULL REFERENCES organizations (id),
      image ${types.text} NOT NULL,
      PRIMARY KEY (name, organization_id)
    )`,
    `CREATE INDEX organization_logos_organization ON organization_logos (organization_id)`,
  ],
};
