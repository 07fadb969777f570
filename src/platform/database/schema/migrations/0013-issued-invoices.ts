import type { Migration } from "../migrate.ts";

/** A subscription counts the invoices that are issued in its period if its plan limits them. */
export const migration: Migration = {
  version: 13,
  name: "issued invoices",
  up: (types) => [
    `ALTER TABLE subscriptions ADD COLUMN issued_from ${types.time}`,
    `ALTER TABLE subscriptions ADD COLUMN issued_count ${types.integer} NOT NULL DEFAULT 0`,
  ],
};
