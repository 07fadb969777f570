import type { Migration } from "../migrate.ts";

/** The rule by which a refund's payment was assigned to its invoice. */
export const migration: Migration = {
  version: 29,
  name: "refund rules",
  up: (types) => [
    `ALTER TABLE refunds ADD COLUMN payment_rule ${types.text} NOT NULL DEFAULT ''`,
    "UPDATE refunds SET payment_rule = (SELECT rule FROM payments WHERE payments.id = refunds.payment_id)",
  ],
};
