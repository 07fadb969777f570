import type { Migration } from "../migrate.ts";

const noAmount = "0".repeat(78);

/**
 * Amounts that payers can send, and prices that payers entered. Migration 40 gives invoices of earlier versions that wait
 * for money a dust; what is paid of the others stays as it was decided.
 */
export const migration: Migration = {
  version: 39,
  name: "payable amounts",
  up: (types) => [
    `ALTER TABLE invoices ADD COLUMN entered_at_link ${types.text}`,
    `ALTER TABLE invoices ADD COLUMN dust_amount ${types.amount("dust_amount")}`,
    `ALTER TABLE payments ADD COLUMN rounding_amount ${types.amount("rounding_amount")} NOT NULL DEFAULT '${noAmount}'`,
    `ALTER TABLE holds ADD COLUMN entered_at_link ${types.text}`,
    `ALTER TABLE holds ADD COLUMN needs_decision ${types.flag} NOT NULL DEFAULT 0`,
    `CREATE INDEX holds_bare ON holds (network, address, token, amount) WHERE released_at IS NULL AND amount = price`,
    `CREATE INDEX holds_entered ON holds (entered_at_link, network, address, token, amount) WHERE released_at IS NULL AND entered_at_link IS NOT NULL`,
  ],
};
