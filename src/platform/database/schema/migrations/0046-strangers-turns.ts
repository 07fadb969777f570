import type { Migration } from "../migrate.ts";

/**
 * Payment links note refusals of ranges of client addresses apart from those of everybody. Claims that were looked up
 * before have an index by their age.
 */
export const migration: Migration = {
  version: 46,
  name: "turns and refusals of strangers",
  up: (types) => [
    `ALTER TABLE payment_links ADD COLUMN range_limited_at ${types.time}`,
    `CREATE INDEX payment_claims_looked_up ON payment_claims (network, organization_id, created_at, id)
       WHERE state = 'waiting' AND is_known = 0 AND attempts > 0`,
  ],
};
