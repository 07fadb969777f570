import type { Id } from "../../kernel/id.ts";
import {
  integer,
  json,
  table,
  text,
  time,
  type RowOf,
} from "../../platform/database/schema/table.ts";

export const customers = table(
  "customers",
  {
    id: text<Id<"customer">>(),
    organizationId: text<Id<"organization">>(),
    /** The merchant's own id of the customer. */
    externalId: text().nullable(),
    name: text(),
    email: text().nullable(),
    metadata: json<Readonly<Record<string, string>>>(),
    version: integer(),
    createdAt: time(),
    updatedAt: time(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      { name: "customers_organization", columns: ["organizationId", "id"] },
      {
        name: "customers_external_id",
        columns: ["organizationId", "externalId"],
        unique: true,
        where: "external_id IS NOT NULL",
      },
      {
        name: "customers_email",
        columns: ["organizationId", "email", "id"],
        where: "email IS NOT NULL",
      },
    ],
  },
);

/** Words of customers' names, for search. */
export const customerTerms = table(
  "customer_terms",
  {
    organizationId: text<Id<"organization">>(),
    term: text(),
    customerId: text<Id<"customer">>(),
  },
  { primaryKey: ["organizationId", "term", "customerId"] },
);

export type CustomerRow = RowOf<typeof customers>;
