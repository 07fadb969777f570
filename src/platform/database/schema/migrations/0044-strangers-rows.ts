import type { Migration } from "../migrate.ts";

/**
 * Rows that requests without a credential cause: they are counted, and forgotten. Claims that wait at the upgrade count
 * as unknown until their transaction is found.
 */
export const migration: Migration = {
  version: 44,
  name: "strangers' rows",
  up: (types) => [
    `CREATE TABLE payer_acts (
      subject ${types.text} NOT NULL,
      act ${types.text} NOT NULL,
      started_at ${types.time} NOT NULL,
      count ${types.integer} NOT NULL,
      PRIMARY KEY (subject, act)
    ) ${types.keyAlone}`,
    `CREATE INDEX payer_acts_started ON payer_acts (started_at)`,
    `ALTER TABLE payment_claims ADD COLUMN is_known ${types.flag} NOT NULL DEFAULT 0`,
    `CREATE INDEX payment_claims_known ON payment_claims (network, next_at, id) WHERE state = 'waiting' AND is_known = 1`,
    `CREATE INDEX payment_claims_unknown ON payment_claims (network, organization_id, attempts, next_at, id)
       WHERE state = 'waiting' AND is_known = 0`,
    `CREATE INDEX payment_claims_stale ON payment_claims (created_at) WHERE state = 'waiting' AND is_known = 0`,
    `CREATE INDEX payment_claims_refused ON payment_claims (closed_at) WHERE state = 'refused'`,
    `ALTER TABLE events ADD COLUMN superseded_at ${types.time}`,
    `CREATE INDEX events_newest_choice ON events (object_id)
       WHERE type = 'invoice.option_chosen' AND superseded_at IS NULL`,
    `CREATE INDEX events_superseded ON events (superseded_at) WHERE superseded_at IS NOT NULL AND payload <> '{}'`,
  ],
};
