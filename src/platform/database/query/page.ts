import type { PageRequest } from "../../../kernel/page.ts";
import type { SqlValue } from "../schema/table.ts";

/** A comparison without its right side (`status =`), and the value; undefined means no filter. */
export type Filter = readonly [comparison: string, value: SqlValue | undefined];

/**
 * Returns the part of a list's statement after `FROM …`, newest first: the given filters, the position after which the
 * page starts, and a limit of one row more than the page. `id` is the ordering column, with its alias in a join.
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
