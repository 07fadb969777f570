import type { Id } from "../../kernel/id.ts";
import { amount, integer, table, text, time } from "../../platform/database/schema/table.ts";

/** The counted quantities. The subject subdivides a measure. */
export type Measure =
  /** Issued invoices by issue time, with their amounts; the subject is the status. */
  | "invoices"
  /** Confirmed payments by block time, with their values; the only subject is the empty string. */
  | "volume"
  /** The same payments by receiving wallet. */
  | "wallet"
  /** The same payments by the invoice's customer; payments without a customer are omitted. */
  | "customer"
  /** The same payments by organization; platform figures only. */
  | "organization";

export type Grain = "hour" | "day";

/** The owner of figures across all organizations. */
export const platformScope = "platform";

/** Number of decimals of all amounts in figures, because networks use different units for the same token. */
export const figureDecimals = 36;

/** Changes not yet added to the sums: written in the transaction of the change, deleted when summed. */
export const figureChanges = table(
  "figure_changes",
  {
    organizationId: text<Id<"organization">>(),
    id: text<Id<"figure">>(),
    measure: text<Measure>(),
    /** The start of the hour; in rows of earlier versions a time within it. */
    happenedAt: time(),
    currency: text(),
    subject: text(),
    /** Sign of the amount. */
    sign: integer(),
    amount: amount(),
    /** The added items, less the removed ones. */
    items: integer(),
  },
  { primaryKey: ["organizationId", "id"] },
);

/** Sums of changes by hour and by day, in UTC. A zero sum has no row. */
export const figures = table(
  "figures",
  {
    /** An organization's id, or `platform` for all organizations. */
    organizationId: text(),
    measure: text<Measure>(),
    grain: text<Grain>(),
    startsAt: time(),
    currency: text(),
    subject: text(),
    /** Negative only while a removal is summed before its addition. */
    items: integer(),
    /** Sign of the amount. */
    sign: integer(),
    amount: amount(),
  },
  {
    primaryKey: ["organizationId", "measure", "grain", "startsAt", "currency", "subject"],
  },
);
