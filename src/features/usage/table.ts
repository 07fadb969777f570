import type { Id } from "../../kernel/id.ts";
import { amount, integer, table, text, time } from "../../platform/database/index.ts";

/** What is counted. The subject tells apart what is counted of one measure. */
export type Measure =
  /** Issued invoices by the time of their issue and what they ask for; the subject is their status. */
  | "invoices"
  /** Confirmed payments by block time and what they are worth; one subject, the empty text. */
  | "volume"
  /** The same payments by the wallet that received them. */
  | "wallet"
  /** And by the customer who was asked; payments of nobody's invoices are in none. */
  | "customer"
  /** And by the organization, of the platform alone. */
  | "organization";

export type Grain = "hour" | "day";

/** Whose figures are those of all organizations together. */
export const platformScope = "platform";

/** Every amount of the figures is counted in this many decimals, since networks count one token in different units. */
export const figureDecimals = 36;

/** What changed and is not in the sums yet: written with the change itself, and deleted by the one who adds it up. */
export const figureChanges = table(
  "figure_changes",
  {
    organizationId: text<Id<"organization">>(),
    id: text<Id<"figure">>(),
    measure: text<Measure>(),
    happenedAt: time(),
    currency: text(),
    subject: text(),
    /** 1: it is one more; -1: it is not there any more. The amount has the same sign. */
    sign: integer(),
    amount: amount(),
  },
  { primaryKey: ["organizationId", "id"] },
);

/** The sums of changes by hour and by day, both in UTC. A sum that is zero has no row. */
export const figures = table(
  "figures",
  {
    /** An organization, or `platform` for all of them. */
    organizationId: text(),
    measure: text<Measure>(),
    grain: text<Grain>(),
    startsAt: time(),
    currency: text(),
    subject: text(),
    /** Below zero only while what was taken out is added up before what was put in. */
    items: integer(),
    /** Of the amount. */
    sign: integer(),
    amount: amount(),
  },
  {
    primaryKey: ["organizationId", "measure", "grain", "startsAt", "currency", "subject"],
  },
);
