import type { Migration } from "../migrate.ts";

/** Invoices that are found by an option that is not in force. */
export const migration: Migration = {
  version: 31,
  name: "several options",
  up: () => [
    "CREATE INDEX invoices_several ON invoices (organization_id, id) WHERE paid_amount IS NOT NULL",
    "CREATE INDEX invoices_several_paid ON invoices (organization_id, paid_at, id) WHERE paid_amount IS NOT NULL AND paid_at IS NOT NULL",
    "CREATE INDEX invoices_several_amount ON invoices (organization_id, amount, id) WHERE paid_amount IS NOT NULL",
  ],
};
