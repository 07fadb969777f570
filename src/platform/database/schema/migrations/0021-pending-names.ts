import type { Migration } from "../migrate.ts";

/** The new name of a reviewed organization reaches payers only after another review. */
export const migration: Migration = {
  version: 21,
  name: "pending names",
  up: (types) => [`ALTER TABLE organizations ADD COLUMN pending_display_name ${types.text}`],
};
