import type { Dialect } from "../database.ts";

/**
 * Returns a subquery with the values of a bound JSON list, for `WHERE id IN ${listed(dialect, 1)}`. The list is given
 * by parameter number or placeholder.
 */
export function listed(dialect: Dialect, place: number | string): string {
  const bound = typeof place === "number" ? `$${String(place)}` : place;
  return dialect === "sqlite"
    ? `(SELECT value FROM json_each(${bound}))`
    : `(SELECT json_array_elements_text(CAST(${bound} AS json)))`;
}

/** The rows of a bound JSON list `$1`, to select or update from: `given.value ->> 0` is the first field of a row. */
export const givenRows: Readonly<Record<Dialect, string>> = {
  sqlite: "json_each($1) AS given",
  postgres: "json_array_elements(CAST($1 AS json)) AS given (value)",
};
