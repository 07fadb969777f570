import type { Migration } from "../migrate.ts";

/** The rest of a partly paid invoice may carry a surcharge of its own, so that its payer is asked for more in total. */
export const migration: Migration = {
  version: 18,
  name: "asked amounts",
  up: (types) => [`ALTER TABLE invoices ADD COLUMN asked_amount ${types.amount("asked_amount")}`],
};
