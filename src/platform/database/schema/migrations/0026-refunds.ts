import type { Migration } from "../migrate.ts";

const nothing = `'${"0".repeat(78)}'`;

/** Refunds of what invoices do not need. */
export const migration: Migration = {
  version: 26,
  name: "refunds",
  up: (types) => [
    ...["refund_requested", "refunded"].map(
      (column) =>
        `ALTER TABLE payments ADD COLUMN ${column} ${types.amount(column)} NOT NULL DEFAULT ${nothing}`,
    ),
    `CREATE TABLE refunds (
      id ${types.text} NOT NULL PRIMARY KEY,
      organization_id ${types.text} NOT NULL REFERENCES organizations (id),
      invoice_id ${types.text} NOT NULL REFERENCES invoices (id),
      payment_id ${types.text} NOT NULL REFERENCES payments (id),
      source ${types.text} NOT NULL CHECK (source IN ('payer', 'merchant')),
      status ${types.text} NOT NULL CHECK (status IN ('requested', 'sent', 'confirmed', 'rejected')),
      network ${types.text} NOT NULL,
      token ${types.text} NOT NULL,
      token_decimals ${types.integer} NOT NULL,
      amount ${types.amount("amount")} NOT NULL,
      address ${types.text} NOT NULL,
      from_address ${types.text} NOT NULL,
      payment_hash ${types.text} NOT NULL,
      payment_height ${types.integer} NOT NULL,
      transaction_hash ${types.text},
      block_height ${types.integer},
      block_hash ${types.text},
      refusal ${types.text},
      refused_hash ${types.text},
      reason ${types.text},
      attempts ${types.integer} NOT NULL,
      next_at ${types.time} NOT NULL,
      version ${types.integer} NOT NULL,
      created_at ${types.time} NOT NULL,
      updated_at ${types.time} NOT NULL,
      sent_at ${types.time},
      confirmed_at ${types.time}
    )`,
    "CREATE INDEX refunds_organization ON refunds (organization_id, id)",
    "CREATE INDEX refunds_status ON refunds (organization_id, status, id)",
    "CREATE INDEX refunds_invoice ON refunds (invoice_id, id)",
    "CREATE INDEX refunds_payment ON refunds (payment_id, id)",
    "CREATE UNIQUE INDEX refunds_open ON refunds (payment_id) WHERE status IN ('requested', 'sent')",
    "CREATE UNIQUE INDEX refunds_hash ON refunds (organization_id, network, transaction_hash) WHERE transaction_hash IS NOT NULL",
    "CREATE INDEX refunds_due ON refunds (network, next_at, id) WHERE status = 'sent'",
    "CREATE INDEX refunds_confirmed ON refunds (network, block_height, id) WHERE status = 'confirmed'",
  ],
};
