import { queryCheck, type Check } from "../database/checks.ts";

export const idempotencyChecks: readonly Check[] = [
  queryCheck({
    name: "idempotency.answers",
    describe: "Only answers of success are kept for an Idempotency-Key.",
    advice: "Delete the row: its request is then carried out when it is sent again.",
    sql: `SELECT claim AS "row", 'It keeps an answer with status ' || status || '.' AS fault
      FROM idempotency_keys WHERE status < 200 OR status > 299 ORDER BY claim`,
  }),
];
