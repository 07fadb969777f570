import type { Migration } from "../migrate.ts";

/** A change of a figure may stand for several items. */
export const migration: Migration = {
  version: 23,
  name: "summed changes",
  up: (types) => [
    `ALTER TABLE figure_changes ADD COLUMN items ${types.integer} NOT NULL DEFAULT 1`,
    "UPDATE figure_changes SET items = -1 WHERE sign = -1",
  ],
};
