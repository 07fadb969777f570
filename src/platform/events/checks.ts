import { queryCheck, type Check } from "../database/schema/checks.ts";

export const eventChecks: readonly Check[] = [
  queryCheck({
    name: "events.dense-positions",
    describe: "Relayed events have consecutive positions.",
    advice: "An event was removed from the store by hand: look for it in a backup.",
    // Old events may be deleted, so counting starts at the first one left.
    sql: `SELECT events.id AS "row", 'No event has the position before its own, ' || events.position || '.' AS fault
      FROM events
      WHERE events.position > (SELECT MIN(first.position) FROM events AS first WHERE first.position IS NOT NULL)
        AND NOT EXISTS (SELECT 1 FROM events AS before WHERE before.position = events.position - 1)
      ORDER BY events.position`,
  }),
];
