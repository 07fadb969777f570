import type { PageRequest } from "../../kernel/page.ts";
import type { SqlValue } from "./table.ts";

/** A comparison without its right side (`status =`), and the value that it compares with; undefined narrows nothing. */
export type Filter = readonly [comparison: string, value: SqlValue | undefined];

/**
 * What follows `FROM …` in the statement of a list, newest first: the filters that were given, the position after which
 * the page starts, and one row more than the page has. `id` is the column that orders, with its alias in a join.
 */
export function pageQuery(
  page: PageRequest,
  filters: readonly Filter[],
  id = "id",
): { readonly rest: string; readonly values: readonly SqlValue[] } {
  const values: SqlValue[] = [];
  const bound = (value: SqlValue) => `$${String(values.push(value))}`;
  const conditions: string[] = [];
  for (const [comparison, value] of [...filters, [`${id} <`, page.after ?? undefined] as const]) {
    if (value !== undefined) conditions.push(`${comparison} ${bound(value)}`);
  }
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")} `;
  return { rest: `${where}ORDER BY ${id} DESC LIMIT ${bound(page.fetch)}`, values };
}
