import type { Id } from "../../kernel/id.ts";
import type { PageRequest } from "../../kernel/page.ts";
import type { Reader } from "../../platform/database/database.ts";
import { listed } from "../../platform/database/query/json-rows.ts";
import { pageQuery } from "../../platform/database/query/lists.ts";
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

export type CustomerRow = RowOf<typeof customers>;

export interface CustomerFilters {
  readonly email?: string | undefined;
  readonly externalId?: string | undefined;
}

export async function findCustomer(
  reader: Reader,
  organizationId: Id<"organization">,
  customerId: Id<"customer">,
): Promise<CustomerRow | null> {
  return reader.findOne(customers, "WHERE organization_id = $1 AND id = $2", [
    organizationId,
    customerId,
  ]);
}

/** Returns those of the customers that the organization has. */
export async function customersAmong(
  reader: Reader,
  organizationId: Id<"organization">,
  customerIds: readonly Id<"customer">[],
): Promise<ReadonlySet<Id<"customer">>> {
  const rows = await reader.all<{ id: Id<"customer"> }>(
    `SELECT id FROM customers WHERE organization_id = $1 AND id IN ${listed(reader.dialect, 2)}`,
    [organizationId, JSON.stringify(customerIds)],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Returns a page of customers, newest first. */
export async function findCustomers(
  reader: Reader,
  organizationId: Id<"organization">,
  filters: CustomerFilters,
  page: PageRequest,
): Promise<CustomerRow[]> {
  const { rest, values } = pageQuery(page, [
    ["organization_id =", organizationId],
    ["email =", filters.email],
    ["external_id =", filters.externalId],
  ]);
  return reader.find(customers, rest, values);
}
