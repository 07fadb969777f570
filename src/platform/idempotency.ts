import { queryCheck, type Check } from "./database/schema/checks.ts";
import { flag, integer, table, text, time } from "./database/schema/table.ts";

/** The stored response of a request with an Idempotency-Key. */
export const idempotencyKeys = table(
  "idempotency_keys",
  {
    /** A hash of the scope and the key. */
    claim: text(),
    /** A hash of path, query and body, and after a space one of path and query. */
    fingerprint: text(),
    status: integer(),
    body: text(),
    /** True if the body is encrypted with a key that is derived from the Idempotency-Key. */
    isSealed: flag(),
    createdAt: time(),
  },
  {
    primaryKey: ["claim"],
    indexes: [{ name: "idempotency_keys_created_at", columns: ["createdAt"] }],
  },
);

export const idempotencyChecks: readonly Check[] = [
  queryCheck({
    name: "idempotency.answers",
    describe: "Only successful responses are kept for an Idempotency-Key.",
    advice: "Delete the row: the request is then executed when it is sent again.",
    sql: `SELECT claim AS "row", 'It keeps a response with status ' || status || '.' AS fault
      FROM idempotency_keys WHERE status < 200 OR status > 299 ORDER BY claim`,
  }),
];
