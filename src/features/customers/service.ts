import { bind, type Bound } from "../../kernel/bind.ts";
import type { Clock } from "../../kernel/clock.ts";
import { notFound } from "../../kernel/errors.ts";
import type { Id, IdSource } from "../../kernel/id.ts";
import { parsePage, toPage, type Page, type PageQuery } from "../../kernel/page.ts";
import { difference, type Journal } from "../../platform/journal/index.ts";
import { UniqueViolation } from "../../platform/database/errors.ts";
import type { Database, WriteContext } from "../../platform/database/database.ts";
import { ExternalIdTaken } from "./errors.ts";
import { presentCustomer } from "./present.ts";
import { writeCustomerTerms } from "./search.ts";
import { findCustomer, listCustomers, type CustomerFilters } from "./store.ts";
import { customers, type CustomerRow } from "./table.ts";

export interface CustomerInput {
  readonly name: string;
  readonly email?: string | null | undefined;
  readonly externalId?: string | null | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** Changes to a customer: absent leaves a field unchanged, null clears it; metadata is replaced as a whole. */
export type CustomerChanges = {
  readonly [Name in keyof CustomerInput]?: CustomerInput[Name] | undefined;
};

export type CustomerService = Bound<typeof methods>;

interface Deps {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly journal: Journal;
}

const methods = { list, get, create, update };

export function makeCustomerService(deps: Deps): CustomerService {
  return bind(deps, methods);
}

async function list(
  { db }: Deps,
  organizationId: Id<"organization">,
  { limit, cursor, ...given }: CustomerFilters & PageQuery,
): Promise<Page<CustomerRow>> {
  const filters = { ...given, email: given.email?.toLowerCase() };
  const page = parsePage({ limit, cursor }, "customers", { organizationId, ...filters });
  return toPage(await listCustomers(db, organizationId, filters, page), page);
}

async function get(
  { db }: Deps,
  organizationId: Id<"organization">,
  customerId: Id<"customer">,
): Promise<CustomerRow> {
  const row = await findCustomer(db, organizationId, customerId);
  if (row === null) throw notFound();
  return row;
}

/** Creates a customer; 409 `external_id_taken` if another customer of the organization has the externalId. */
function create(
  { db, clock, ids, journal }: Deps,
  context: WriteContext,
  organizationId: Id<"organization">,
  input: CustomerInput,
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

/** Changes a customer; 409 `external_id_taken` as above. */
async function update(
  { db, clock, journal }: Deps,
  context: WriteContext,
  organizationId: Id<"organization">,
  customerId: Id<"customer">,
  changes: CustomerChanges,
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
      const given = Object.fromEntries(
        Object.entries(changes).filter(([, value]) => value !== undefined),
      ) as Partial<CustomerRow>;
      const changed = difference({ ...current }, given);
      if (Object.keys(changed).length === 0) return current;
      const set = { ...given, version: current.version + 1, updatedAt: at };
      await tx.update(customers, set, "WHERE id = $1", [customerId]);
      const next = { ...current, ...set };
      await writeCustomerTerms(tx, next, current.name);
      journal.record(tx, at, {
        action: "customer.updated",
        organizationId,
        subjectType: "customer",
        subjectId: customerId,
        changes: changed,
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
