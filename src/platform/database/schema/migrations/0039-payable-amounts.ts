import type { Migration } from "../migrate.ts";

const noAmount = "0".repeat(78);

/**
 * Amounts that payers can send, and prices that payers entered. Open invoices of earlier versions get the dust of the
 * shipped tokens, 0.01; what is paid of the others stays as it was decided.
 */
export const migration: Migration = {
  version: 39,
  name: "payable amounts",
  up: (types) => [
    `ALTER TABLE invoices ADD COLUMN entered_at_link ${types.text}`,
    `ALTER TABLE invoices ADD COLUMN dust_amount ${types.amount("dust_amount")}`,
    `UPDATE invoices SET dust_amount = substr('${noAmount}', 1, CAST(79 - token_decimals AS integer)) || '1' || substr('${noAmount}', 1, CAST(token_decimals - 2 AS integer))
      WHERE status = 'open' AND token_decimals >= 2 AND seen_amount = '${noAmount}' AND paid_amount IS NULL
        AND NOT EXISTS (SELECT 1 FROM payments WHERE payments.invoice_id = invoices.id)`,
    `ALTER TABLE payments ADD COLUMN rounding_amount ${types.amount("rounding_amount")} NOT NULL DEFAULT '${noAmount}'`,
    `ALTER TABLE holds ADD COLUMN entered_at_link ${types.text}`,
    `ALTER TABLE holds ADD COLUMN needs_decision ${types.flag} NOT NULL DEFAULT 0`,
    `CREATE INDEX holds_bare ON holds (network, address, token, amount) WHERE released_at IS NULL AND amount = price`,
    `CREATE INDEX holds_entered ON holds (entered_at_link, network, address, token, amount) WHERE released_at IS NULL AND entered_at_link IS NOT NULL`,
  ],
};
