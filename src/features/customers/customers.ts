import type { App } from "../../app.ts";
import { defineProblem, notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { parsePage, toPage, type Page, type PageQuery } from "../../kernel/page.ts";
import { hasWords, rarestWord, wordsOf, type SearchQuery } from "../../kernel/search.ts";
import type { Reader, Tx, WriteContext } from "../../platform/database/database.ts";
import { UniqueViolation } from "../../platform/database/errors.ts";
import { startingWith } from "../../platform/database/query/facets.ts";
import { listed } from "../../platform/database/query/json-rows.ts";
import { termCheck, walkBatch, type Check } from "../../platform/database/schema/checks.ts";
import { table, text } from "../../platform/database/schema/table.ts";
import { difference } from "../../platform/journal.ts";
import type * as z from "zod";
import {
  presentCustomer,
  type CreateCustomerRequest,
  type UpdateCustomerRequest,
} from "./records.ts";
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

/** The searchable texts of a customer. */
export type CustomerText = Pick<CustomerRow, "id" | "name" | "email">;

/** Whether a search matches a customer: by words of the name or by the beginning of the e-mail address. */
export function isFoundCustomer({ name, email }: CustomerText, query: SearchQuery): boolean {
  return email?.startsWith(query.folded) === true || hasWords(name, query);
}

/** Returns an organization's customers that match a search; null if there are more than `most` candidates. */
export async function searchCustomers(
  reader: Reader,
  organizationId: Id<"organization">,
  query: SearchQuery,
  most: number,
): Promise<readonly Id<"customer">[] | null> {
  const word = rarestWord(query);
  const [named, addressed] = await Promise.all([
    word === undefined
      ? []
      : reader.all<{ id: Id<"customer"> }>(
          `SELECT DISTINCT customer_id AS "id" FROM (
             SELECT customer_id FROM customer_terms WHERE organization_id = $1 AND term >= $2 AND term < $3 LIMIT $4
           ) AS named`,
          [organizationId, ...startingWith(word), most + 1],
        ),
    reader.all<{ id: Id<"customer"> }>(
      `SELECT id AS "id" FROM customers
       WHERE organization_id = $1 AND email >= $2 AND email < $3 AND email IS NOT NULL LIMIT $4`,
      [organizationId, ...startingWith(query.folded), most + 1],
    ),
  ]);
  const ids = [...new Set([...named, ...addressed].map(({ id }) => id))];
  if (ids.length > most) return null;
  const texts = await customerTexts(reader, ids);
  return ids.filter((id) => {
    const text = texts.get(id);
    return text !== undefined && isFoundCustomer(text, query);
  });
}

/** Returns the searchable texts of customers, by id. */
export async function customerTexts(
  reader: Reader,
  ids: readonly Id<"customer">[],
): Promise<ReadonlyMap<Id<"customer">, CustomerText>> {
  if (ids.length === 0) return new Map();
  const rows = await reader.all<CustomerText>(
    `SELECT id AS "id", name AS "name", email AS "email" FROM customers WHERE id IN ${listed(reader.dialect, 1)}`,
    [JSON.stringify([...new Set(ids)])],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Stores the words of a customer's name for search. `before` is the previous name; null for a new customer. */
async function writeCustomerTerms(
  tx: Tx,
  { organizationId, id, name }: Pick<CustomerRow, "organizationId" | "id" | "name">,
  before: string | null,
): Promise<void> {
  if (name === before) return;
  if (before !== null) {
    await tx.run(
      `DELETE FROM customer_terms WHERE organization_id = $1 AND customer_id = $2
       AND term IN ${listed(tx.dialect, 3)}`,
      [organizationId, id, JSON.stringify(wordsOf(before))],
    );
  }
  const rows = wordsOf(name).map((term) => ({ organizationId, term, customerId: id }));
  if (rows.length > 0) await tx.insertMany(customerTerms, rows);
}

/** Every name has its words for search, and nothing else has. */
export const customerChecks: readonly Check[] = [
  termCheck<CustomerRow>({
    name: "customers.search-terms",
    table: "customer_terms",
    owner: "customer_id",
    texts: "the customer's name",
    batch: (reader, after) =>
      reader.find(customers, `WHERE id > $1 ORDER BY id LIMIT ${String(walkBatch)}`, [after]),
    byId: (reader, ids) =>
      reader.find(customers, `WHERE id IN ${listed(reader.dialect, 1)} ORDER BY id`, [
        JSON.stringify(ids),
      ]),
    termsOf: ({ name }) => wordsOf(name),
  }),
];
