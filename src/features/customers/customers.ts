import type { App } from "../../app.ts";
import { defineProblem, notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { parsePage, toPage, type Page, type PageQuery } from "../../kernel/page.ts";
import type { WriteContext } from "../../platform/database/database.ts";
import { UniqueViolation } from "../../platform/database/errors.ts";
import { difference } from "../../platform/journal/index.ts";
import type { z } from "zod";
import {
  presentCustomer,
  type CreateCustomerRequest,
  type UpdateCustomerRequest,
} from "./records.ts";
import { writeCustomerTerms } from "./search.ts";
import {
  customers,
  findCustomer,
  findCustomers,
  type CustomerFilters,
  type CustomerRow,
} from "./store.ts";

export const ExternalIdTaken = defineProblem({
  code: "external_id_taken",
  status: 409,
  title: "The externalId belongs to another customer",
  remedy:
    "List the customers with this `externalId` and use that customer, or send another `externalId`.",
});

/** Returns a page of an organization's customers, newest first. */
export async function listCustomers(
  { db }: App,
  organizationId: Id<"organization">,
  { limit, cursor, ...query }: CustomerFilters & PageQuery,
): Promise<Page<CustomerRow>> {
  const filters = { ...query, email: query.email?.toLowerCase() };
  const page = parsePage({ limit, cursor }, "customers", { organizationId, ...filters });
  return toPage(await findCustomers(db, organizationId, filters, page), page);
}

/** Returns a customer. @throws a 404 problem if the organization has none with this id */
export async function getCustomer(
  { db }: App,
  organizationId: Id<"organization">,
  customerId: Id<"customer">,
): Promise<CustomerRow> {
  const row = await findCustomer(db, organizationId, customerId);
  if (row === null) throw notFound();
  return row;
}

/** Creates a customer. @throws ExternalIdTaken if another customer of the organization has the externalId */
export function createCustomer(
  { db, clock, ids, journal }: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  input: z.output<typeof CreateCustomerRequest>,
): Promise<CustomerRow> {
  return db.write(context, async (tx) => {
    const at = clock.now();
    const row: CustomerRow = {
      id: ids.next("customer", at),
      organizationId,
      externalId: input.externalId ?? null,
      name: input.name,
      email: input.email ?? null,
      metadata: input.metadata ?? {},
      version: 1,
      createdAt: at,
      updatedAt: at,
    };
    if (!(await tx.insertIfAbsent(customers, row))) throw externalIdTaken();
    await writeCustomerTerms(tx, row, null);
    const { name, email, externalId, metadata } = row;
    journal.record(tx, at, {
      action: "customer.created",
      organizationId,
      subjectType: "customer",
      subjectId: row.id,
      changes: { name, email, externalId, metadata },
      events: { types: ["customer.created"], version: 1, data: presentCustomer(row) },
    });
    return row;
  });
}

/**
 * Changes a customer: an absent field remains unchanged, null clears it, and metadata is replaced as a whole.
 * @param expect throws if the caller has read another version
 * @throws ExternalIdTaken as `createCustomer` does
 */
export async function updateCustomer(
  { db, clock, journal }: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  customerId: Id<"customer">,
  input: z.output<typeof UpdateCustomerRequest>,
  expect: (current: CustomerRow) => void,
): Promise<CustomerRow> {
  try {
    return await db.write(context, async (tx) => {
      const at = clock.now();
      const current = await tx.lockOne(customers, "WHERE organization_id = $1 AND id = $2", [
        organizationId,
        customerId,
      ]);
      if (current === null) throw notFound();
      expect(current);
      const fields = Object.fromEntries(
        Object.entries(input).filter(([, value]) => value !== undefined),
      ) as Partial<CustomerRow>;
      const changes = difference({ ...current }, fields);
      if (Object.keys(changes).length === 0) return current;
      const set = { ...fields, version: current.version + 1, updatedAt: at };
      await tx.update(customers, set, "WHERE id = $1", [customerId]);
      const next = { ...current, ...set };
      await writeCustomerTerms(tx, next, current.name);
      journal.record(tx, at, {
        action: "customer.updated",
        organizationId,
        subjectType: "customer",
        subjectId: customerId,
        changes,
        events: {
          types: ["customer.updated"],
          version: next.version,
          data: presentCustomer(next),
        },
      });
      return next;
    });
  } catch (error) {
    if (error instanceof UniqueViolation && error.index === "customers_external_id") {
      throw externalIdTaken();
    }
    throw error;
  }
}

function externalIdTaken(): InstanceType<typeof ExternalIdTaken> {
  return new ExternalIdTaken(
    "Another customer of the organization has this externalId. Find that customer with ?externalId=, or use another id.",
    { errors: [{ pointer: "/externalId", code: "taken", message: "belongs to another customer" }] },
  );
}
