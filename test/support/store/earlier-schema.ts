/** Takes the schema after version 40 back, as statements for both databases. */
export const toVersion40: readonly string[] = [
  "DROP TABLE network_gaps",
  "DROP INDEX payment_claims_looked_up",
  "ALTER TABLE payment_links DROP COLUMN range_limited_at",
  "ALTER TABLE webhook_attempts DROP COLUMN oddity",
  "DROP INDEX transfers_identity",
  "ALTER TABLE transfers DROP COLUMN ordinal",
  "CREATE UNIQUE INDEX transfers_position ON transfers (network, transaction_hash, log_index) WHERE status = 'seen'",
  "CREATE INDEX transfers_transaction ON transfers (transaction_hash, network)",
  "DROP INDEX transfers_unmatched",
  "DROP INDEX wallets_read",
  "DROP TABLE wallet_readings",
  ...["events_superseded", "events_newest_choice", "payment_claims_refused"].map(dropIndex),
  ...["payment_claims_stale", "payment_claims_unknown", "payment_claims_known"].map(dropIndex),
  "ALTER TABLE events DROP COLUMN superseded_at",
  "ALTER TABLE payment_claims DROP COLUMN is_known",
  "DROP TABLE payer_acts",
  "ALTER TABLE payment_links DROP COLUMN limited_at",
  "ALTER TABLE invoices DROP COLUMN started_from",
  ...["holds_recyclable", "wallet_claims_free"].map(dropIndex),
  "ALTER TABLE holds DROP COLUMN recyclable_key",
  "ALTER TABLE wallet_claims DROP COLUMN derived_state",
  "ALTER TABLE wallet_claims DROP COLUMN key_index",
  "ALTER TABLE wallet_claims DROP COLUMN key_identity",
  "DROP INDEX organizations_creator",
  "ALTER TABLE organizations DROP COLUMN created_by",
  "DROP TABLE organization_allowances",
  ...["invoices_counted", "invoices_open_at_link"].map(dropIndex),
  "ALTER TABLE invoices DROP COLUMN counted_at",
  "ALTER TABLE invoices DROP COLUMN started_at_link",
  "DELETE FROM schema_versions WHERE version > 40",
];

function dropIndex(name: string): string {
  return `DROP INDEX ${name}`;
}
