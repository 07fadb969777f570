import { integer, table, text, time } from "../../platform/database/schema/table.ts";

/** Anything that a payer, who has no credential, can do again and again at a checkout, and that leaves rows. */
export type PayerAct = "option" | "hash" | "refund";

/** Counts of what payers did lately. A count is forgotten a day after it started. */
export const payerActs = table(
  "payer_acts",
  {
    /** The id of the invoice, the payment link or the organization that the acts burden. */
    subject: text(),
    act: text<PayerAct>(),
    /** The start of the period: the time of the first act that is counted. */
    startedAt: time(),
    count: integer(),
  },
  {
    primaryKey: ["subject", "act"],
    indexes: [{ name: "payer_acts_started", columns: ["startedAt"] }],
  },
);
