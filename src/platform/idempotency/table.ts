import { flag, integer, table, text, time } from "../database/schema/table.ts";

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
