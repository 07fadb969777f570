import { queryCheck, type Check } from "../database/checks.ts";

export const eventChecks: readonly Check[] = [
  queryCheck({
    name: "events.dense-positions",
    describe: "Events that were passed on have positions without a gap.",
    advice: "An event was taken out of the store by hand: look for it in a backup.",
    // Old events may be gone, so the first that is there begins the count.
    sql: `SELECT events.id AS "row", 'No event has the position before its own, ' || events.position || '.' AS fault
      FROM events
      WHERE events.position > (SELECT MIN(first.position) FROM events AS first WHERE first.position IS NOT NULL)
        AND NOT EXISTS (SELECT 1 FROM events AS before WHERE before.position = events.position - 1)
      ORDER BY events.position`,
  }),
];
