import type { Migration } from "../migrate.ts";

/** Several tokens and networks for an invoice, and the rate and wallet of each payment. */
export const migration: Migration = {
  version: 28,
  name: "payment options",
  up: (types) => [
    `ALTER TABLE organizations ADD COLUMN payment_options ${types.json}`,
    `ALTER TABLE invoices ADD COLUMN payment_options ${types.json}`,
    `ALTER TABLE invoices ADD COLUMN paid_amount ${types.amount("paid_amount")}`,
    `ALTER TABLE payments ADD COLUMN exchange_rate ${types.text}`,
    `ALTER TABLE payments ADD COLUMN wallet_id ${types.text}`,
    "DROP INDEX invoices_partly_paid",
    `CREATE INDEX invoices_partly_paid ON invoices (organization_id, settlement_currency, settlement_decimals, amount, payable_amount, seen_amount, paid_amount) WHERE status = 'partially_paid'`,
  ],
};
