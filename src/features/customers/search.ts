import type { Id } from "../../kernel/id.ts";
import { hasWords, rarestWord, wordsOf, type SearchQuery } from "../../kernel/search.ts";
import { startingWith } from "../../platform/database/query/facets.ts";
import type { Reader, Tx } from "../../platform/database/database.ts";
import { listed } from "../../platform/database/query/json-rows.ts";
import { walkBatch, type Check } from "../../platform/database/schema/checks.ts";
import { table, text } from "../../platform/database/schema/table.ts";
import { termCheck } from "../../platform/database/term-check.ts";
import { customers, type CustomerRow } from "./store.ts";

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
export async function writeCustomerTerms(
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
