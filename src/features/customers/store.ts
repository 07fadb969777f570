import type { Id } from "../../kernel/id.ts";
import type { PageRequest } from "../../kernel/page.ts";
import type { Reader } from "../../platform/database/database.ts";
import { listed } from "../../platform/database/query/json-rows.ts";
import { pageQuery } from "../../platform/database/query/page.ts";
import { customers, type CustomerRow } from "./table.ts";

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
export async function listCustomers(
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
