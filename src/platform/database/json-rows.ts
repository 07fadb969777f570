import type { Dialect } from "./database.ts";

/** A bound JSON list as the values of an IN: `WHERE id IN ${listed(dialect, 1)}`, or by its placeholder. */
export function listed(dialect: Dialect, place: number | string): string {
  const bound = typeof place === "number" ? `$${String(place)}` : place;
  return dialect === "sqlite"
    ? `(SELECT value FROM json_each(${bound}))`
    : `(SELECT json_array_elements_text(CAST(${bound} AS json)))`;
}

/** A bound JSON list of rows, `$1`, to read or update from: `given.value ->> 0` is a row's first field. */
export const givenRows: Readonly<Record<Dialect, string>> = {
  sqlite: "json_each($1) AS given",
  postgres: "json_array_elements(CAST($1 AS json)) AS given (value)",
};
