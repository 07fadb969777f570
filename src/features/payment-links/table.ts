import type { Id } from "../../kernel/id.ts";
import {
  integer,
  json,
  table,
  text,
  time,
  type RowOf,
} from "../../platform/database/schema/table.ts";
import type { LinkTerms } from "./terms.ts";

export const paymentLinks = table(
  "payment_links",
  {
    id: text<Id<"paymentLink">>(),
    organizationId: text<Id<"organization">>(),
    status: text<"active" | "disabled">(),
    /** The amount of each invoice, in the settlement currency; null: the payer enters it. */
    amount: text().nullable(),
    /** The bounds of an entered amount. */
    minAmount: text().nullable(),
    maxAmount: text().nullable(),
    /** All other fields of the invoices, as in a request for one. */
    terms: json<LinkTerms>(),
    version: integer(),
    /** When `payment_link.limited` was last raised because everybody was refused; null: never. */
    limitedAt: time().nullable(),
    /** When it was last raised because a range of client addresses was refused; null: never. */
    rangeLimitedAt: time().nullable(),
    createdAt: time(),
    updatedAt: time(),
  },
  {
    primaryKey: ["id"],
    indexes: [{ name: "payment_links_organization", columns: ["organizationId", "id"] }],
  },
);

export type PaymentLinkRow = RowOf<typeof paymentLinks>;
