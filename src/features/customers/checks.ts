import { wordsOf } from "../../kernel/search.ts";
import { walkBatch, type Check } from "../../platform/database/schema/checks.ts";
import { listed } from "../../platform/database/query/json-rows.ts";
import { termCheck } from "../../platform/database/term-check.ts";
import { customers, type CustomerRow } from "./table.ts";

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
