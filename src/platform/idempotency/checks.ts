import { queryCheck, type Check } from "../database/schema/checks.ts";

export const idempotencyChecks: readonly Check[] = [
  queryCheck({
    name: "idempotency.answers",
    describe: "Only successful responses are kept for an Idempotency-Key.",
    advice: "Delete the row: the request is then executed when it is sent again.",
    sql: `SELECT claim AS "row", 'It keeps a response with status ' || status || '.' AS fault
      FROM idempotency_keys WHERE status < 200 OR status > 299 ORDER BY claim`,
  }),
];
