import type { Id } from "../../../kernel/id.ts";
import type { Condition, Found, Key, Walk } from "../../../platform/database/query/facets.ts";
import type { Dialect, Reader } from "../../../platform/database/database.ts";
import type { SqlValue } from "../../../platform/database/schema/table.ts";
import { listedValues } from "../../../platform/database/query/json-rows.ts";
import { hasSeveral } from "../table.ts";
import type { InvoiceFilters } from "./filters.ts";

/** The filters on an option of an invoice; an invoice without several holds is found by its own columns. */
type OptionFilters = Pick<InvoiceFilters, "network" | "tokenSymbol" | "walletId" | "walletAddress">;

/** Returns the filters without those on an option. */
export function withoutOption(filters: InvoiceFilters): InvoiceFilters {
  return {
    ...filters,
    network: undefined,
    tokenSymbol: undefined,
    walletId: undefined,
    walletAddress: undefined,
  };
}

/** Whether filters on an option may find invoices by one that is not in force. */
export async function mayBeHeld(
  reader: Reader,
  organizationId: Id<"organization">,
  { network, tokenSymbol, walletId, walletAddress }: OptionFilters,
): Promise<boolean> {
  if ([network, tokenSymbol, walletId, walletAddress].every((each) => each === undefined)) {
    return false;
  }
  const found = await reader.all(
    `SELECT 1 AS found FROM invoices WHERE organization_id = $1 AND ${hasSeveral} LIMIT 1`,
    [organizationId],
  );
  return found.length > 0;
}

/** Returns the condition that one option with a hold meets all of the filters. */
export function holdsOption(
  dialect: Dialect,
  { network, tokenSymbol, walletId, walletAddress }: OptionFilters,
): Condition {
  const wanted: readonly (readonly [field: string, value: SqlValue | undefined])[] = [
    ["held.value ->> 'network'", network],
    ["held.value ->> 'tokenSymbol'", tokenSymbol],
    ["held.value -> 'quote' ->> 'walletId'", walletId],
    ["held.value -> 'quote' ->> 'walletAddress'", walletAddress],
  ];
  return (bind) => {
    const conditions = wanted.flatMap(([field, value]) =>
      value === undefined ? [] : [`(${field}) = ${bind(value)}`],
    );
    return `${hasSeveral} AND EXISTS (
      SELECT 1 FROM ${listedValues(dialect, "one.payment_options", "held")}
      WHERE (held.value ->> 'quote') IS NOT NULL AND ${conditions.join(" AND ")})`;
  };
}

/** Merges two results of one walk into one without duplicates, up to the key at which the earlier search ended. */
export function mergeFound({ direction }: Walk, one: Found, other: Found): Found {
  const sign = direction === "ASC" ? 1 : -1;
  const order = (left: Key, right: Key) => sign * compareKeys(left, right);
  const [resumeAt = null] = [one.resumeAt, other.resumeAt]
    .filter((key) => key !== null)
    .sort(order);
  const merged = new Map([...one.keys, ...other.keys].map((key) => [key.at(-1), key]));
  const keys = [...merged.values()]
    .filter((key) => resumeAt === null || order(key, resumeAt) <= 0)
    .sort(order);
  return { keys, resumeAt };
}

/** Compares the values of two keys: texts by their bytes, as both databases do, and times. */
function compareKeys(one: Key, other: Key): number {
  for (const [place, value] of one.entries()) {
    const against = other[place] ?? null;
    if (value === against || value === null || against === null) continue;
    return value < against ? -1 : 1;
  }
  return 0;
}
