import type { Migration } from "../migrate.ts";

const paymentFacet = `(status || ' ' || network || ' ' || token)`;

/**
 * Indexes for listing payments by block time and by amount, and for finding a sender's payments across organizations.
 */
export const migration: Migration = {
  version: 14,
  name: "payment orders",
  up: () => [
    `CREATE INDEX payments_block_time ON payments (organization_id, ${paymentFacet}, block_time, id)`,
    `CREATE INDEX payments_amount ON payments (organization_id, ${paymentFacet}, amount, id)`,
    `DROP INDEX transfers_sender`,
    `CREATE INDEX transfers_sender ON transfers (from_address, organization_id, id)`,
  ],
};
