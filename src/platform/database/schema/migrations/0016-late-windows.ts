import type { Migration } from "../migrate.ts";

/** Organizations set how long late payments are matched to their invoice, and amounts of dead invoices are recycled. */
export const migration: Migration = {
  version: 16,
  name: "late windows",
  up: (types) => [
    `ALTER TABLE organizations ADD COLUMN late_window_days ${types.integer} NOT NULL DEFAULT 7`,
    `ALTER TABLE holds ADD COLUMN recycled_at ${types.time}`,
    `CREATE INDEX holds_recycled ON holds (network, address, token, amount) WHERE recycled_at IS NOT NULL`,
  ],
};
