import { flag, integer, table, text, time } from "../database/index.ts";

/** The answer that a request with an Idempotency-Key was given. */
export const idempotencyKeys = table(
  "idempotency_keys",
  {
    /** A hash of the scope and the key. */
    claim: text(),
    /** A hash of path, query and body. */
    fingerprint: text(),
    status: integer(),
    body: text(),
    /** The body is encrypted under a key that is derived from the Idempotency-Key. */
    isSealed: flag(),
    createdAt: time(),
  },
  {
    primaryKey: ["claim"],
    indexes: [{ name: "idempotency_keys_created_at", columns: ["createdAt"] }],
  },
);
